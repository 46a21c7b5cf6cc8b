// "Error messages": finds the message that is most like what is typed or pasted, with other numbers, names and paths.
// On the page of a topic the field leads to the list of all, which reads ?message= of its address. Without this file
// there is no field. Runs after each page, as instant navigation replaces only the content.
const LONGEST_ERROR = 6000, MOST_ERRORS = 8 // of a text, its beginning and its end, where a traceback has the error

function cutError(text) {
  return text.length > LONGEST_ERROR ? `${text.slice(0, 1500)} ${text.slice(1500 - LONGEST_ERROR)}` : text
}

// The words of a text, without paths, numbers, sizes and addresses of memory. Only where nothing was allocated, as on a
// virtual Mac, a size counts: PyTorch prints others as GB or GiB, MB or MiB, and small ones as bytes.
function errorWords(text) {
  const plain = text.toLowerCase().replace("allocated: 0 bytes", "allocated nothing")
    .replace(/(?:[~\w.@-]*\/){2,}\S*|\b0x[\da-f]+|\bline \d+|\b\d[\d.]* (?:[kmgt]i?b|bytes)\b/g, " ")
  return new Set(plain.split(/[^\p{L}\p{N}_]+/u).flatMap(word => word.includes("_") ? [word, ...word.split("_")] : word)
    .filter(word => /^\p{L}/u.test(word) && !/^(?:the|a|an|to|is|of|in|on|for|and|be|it|with)$/.test(word)))
}

// Each message is a list of wordings. What stands in quotes is a name that may be another one: it can only add.
function readErrors(lists) {
  const links = [...lists].flatMap(list => [...list.querySelectorAll("a")])
  const counts = new Map()
  const errors = links.map(link => {
    const wordings = [link.textContent, ...(link.dataset.also || "").split("\n").filter(Boolean)].map(text => ({
      all: errorWords(text), fixed: errorWords(text.replace(/(['"`])\S*?\1/g, " ")),
    }))
    for (const word of new Set(wordings.flatMap(({ all }) => [...all]))) counts.set(word, (counts.get(word) || 0) + 1)
    return { link, wordings }
  })
  const weigh = word => Math.log((links.length + 1) / (counts.get(word) || 8)) // unknown ones little
  return { errors, sum: words => [...words].reduce((total, word) => total + weigh(word), 0) }
}

// The nearest messages. A wording counts by the weight of the words it shares, and by their share of it and of the text.
// One is left out that shares less than half of the wording, unless it has most of the text.
// Of a traceback, its last line is tried alone as well: the lines of the reader's own program match no wording.
function nearestErrors({ errors, sum }, text) {
  const last = [...text.matchAll(/[\w.]*(?:Error|Exception|Warning): /g)].at(-1)
  const texts = [text, ...(last?.index ? [text.slice(last.index)] : [])].map(errorWords)
  const scored = errors.map(({ link, wordings }) => {
    const scores = texts.flatMap(asked => wordings.map(({ all, fixed }) => {
      const total = Math.max(sum(asked), 1)
      const shared = new Set([...all].filter(word => asked.has(word)))
      const weight = sum(shared)
      const whole = Math.max(sum(new Set([...fixed, ...shared])), 1)
      return weight / whole < .5 && weight / total < .6 ? 0 : weight * (weight / whole + weight / total)
    }))
    return { link, score: Math.max(...scores) }
  }).sort((one, other) => other.score - one.score)
  const near = scored.filter(({ score }) => score >= Math.max(3, scored[0].score * .4))
  return near.slice(0, MOST_ERRORS).map(({ link }) => link)
}

function startErrorFilter() {
  const form = document.querySelector("[data-error-filter]")
  if (!form) return
  const field = form.querySelector("input"), lists = document.querySelectorAll(".error-list")
  const [status, elsewhere, found] = ["[role=status]", "[data-else]", "ol"].map(part => form.querySelector(part))
  form.hidden = false
  form.addEventListener("submit", event => {
    field.value = cutError(field.value)
    if (lists.length) event.preventDefault()
    found.querySelector("a")?.focus()
  })
  if (!lists.length) return
  let read
  function show() {
    const text = cutError(field.value).trim()
    const links = text.length < 3 ? [] : nearestErrors(read ??= readErrors(lists), text)
    found.replaceChildren(...links.map(link => link.parentElement.cloneNode(true)))
    found.hidden = links.length === 0
    elsewhere.hidden = text.length < 3
    elsewhere.querySelector("span").hidden = links.length > 0
    elsewhere.querySelector("a").search = new URLSearchParams({ q: text.slice(0, 300) })
    status.textContent = links.length === 0 ? "" : form.dataset.found.replace("{found}", links.length)
  }
  field.addEventListener("input", show)
  field.addEventListener("change", () => // whoever comes back from a message finds the others again
    history.replaceState(history.state, "", `?${new URLSearchParams({ message: cutError(field.value) })}`))
  field.value ||= new URLSearchParams(location.search).get("message") || ""
  show()
}

if (window.document$) document$.subscribe(startErrorFilter)
else document.addEventListener("DOMContentLoaded", startErrorFilter)
