// "Operators by version": keeps the rows and names that contain what is typed. Without this file everything
// is shown. Runs after each page, also when instant navigation replaced only the content.
function startOperatorFilter() {
  const box = document.querySelector("[data-operator-filter]")
  if (!box) return
  const field = box.querySelector("input")
  const status = box.querySelector("[role=status]")
  const groups = [...document.querySelectorAll("[data-operators]")]
    .map(group => ({ group, entries: [...group.querySelectorAll("tbody tr, li")].map(entry => ({
      entry, names: (entry.cells ? entry.cells[0] : entry).textContent.toLowerCase(),
    })) }))
  const total = groups.reduce((sum, { entries }) => sum + entries.length, 0)

  function show() {
    // As errors and profiles write it: aten::add.Tensor, aten.add.Tensor. Rows hold overloads apart.
    const wanted = field.value.trim().toLowerCase().replace(/^aten(::|\.)/, "").replace(/\..*/, "")
    let found = 0
    for (const { group, entries } of groups) {
      let here = 0
      for (const { entry, names } of entries) here += !(entry.hidden = !names.includes(wanted))
      found += here
      group.classList.toggle("operator-none", here === 0)
      if (group.localName === "details") group.open = wanted !== "" && here > 0
    }
    const words = found ? box.dataset.found : box.dataset.nothing
    status.textContent = wanted ? words.replace("{}", found).replace("{}", total) : ""
  }
  field.addEventListener("input", show)
  box.hidden = false
  show() // a reloaded page may come with the field as it was left
}

if (window.document$) document$.subscribe(startOperatorFilter)
else document.addEventListener("DOMContentLoaded", startOperatorFilter)
