// "Time and cost of a training": computes what docs/hooks/time_and_cost.py computes for its tables, from the
// fields of the form. Runs after each page, also when instant navigation replaced only the content.
function startTrainingCalculator() {
  const box = document.querySelector("[data-training-calculator]")
  if (!box) return
  const form = box.querySelector("form")
  const units = box.dataset.units.split("|") // seconds, minutes, hours, days

  // NaN for a field that is empty or holds something else than a number from 0 on.
  function value(name) {
    const field = form.elements[name]
    return field.validity.valid ? field.valueAsNumber : NaN
  }

  // As figures() in docs/hooks/markdown_tables.py: so many significant digits, no exponent.
  function figures(number, digits = 3) {
    if (number >= 10 ** (digits - 1)) return Math.round(number).toLocaleString("en")
    let shift = 0
    while (number && number * 10 ** shift < 10 ** (digits - 1)) shift++
    return number.toFixed(Math.min(shift, 100))
  }

  const money = number =>
    number.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) + box.dataset.currency

  const left = name => form.elements[name].validity.valid && !form.elements[name].value

  // As mean_price() in snippets/training_cost.py, where the fields of the cheaper hours are filled in.
  function price() {
    const peak = value("price")
    if (left("off_peak") && left("off_peak_hours")) return peak
    return peak + (value("off_peak") - peak) * value("off_peak_hours") / 24
  }

  function duration(seconds) {
    const place = [100, 100 * 60, 48 * 3600].filter(limit => seconds >= limit).length
    return figures(seconds / [1, 60, 3600, 86400][place], 2) + units[place]
  }

  function show() {
    const measured = value("measured")
    const step = measured > 0 ? measured : value("work") * 1e9 / (value("peak") * 1e12 * value("share") / 100)
    const seconds = value("steps") * step
    const energy = value("watts") * seconds / 3.6e6
    const rented = seconds / value("faster")
    const machines = value("machines") >= 1 ? value("machines") : NaN
    const sent = 2 * (machines - 1) / machines * value("parameters") * 32 // bits of float32, by each machine
    const results = {
      step: [step, number => figures(number) + " s"],
      time: [seconds, duration],
      energy: [energy, number => figures(number) + " kWh"],
      electricity: [energy * price(), money],
      rented: [rented, duration],
      rent: [rented / 3600 * value("per_hour"), money],
      network: [sent / (value("gigabits") * 1e9), number => figures(number) + " s"],
    }
    box.querySelector("[data-missing]").hidden = Number.isFinite(seconds)
    for (const [name, [number, write]] of Object.entries(results))
      box.querySelector(`[data-result=${name}]`).textContent = Number.isFinite(number) ? write(number) : "–"
  }

  form.addEventListener("input", ({ target }) => {
    if (target.localName === "select") {
      for (const [name, filled] of Object.entries(target.selectedOptions[0].dataset))
        form.elements[name].value = filled
    } else {
      for (const select of form.querySelectorAll("select"))
        if (target.name in select.options[0].dataset) select.value = "" // the values are the reader's own now
    }
    show()
  })
  form.addEventListener("submit", event => event.preventDefault()) // Enter in a field
  box.hidden = false
  show() // a reloaded page may come with the fields as they were left
}

if (window.document$) document$.subscribe(startTrainingCalculator)
else document.addEventListener("DOMContentLoaded", startTrainingCalculator)
