// "Find an operator", on any page: answers what is typed or pasted with the sentences of assets/operator-states.json
// (docs/hooks/operator_finder.py) and filters the tables of operators where the page has them. Without this file there
// is a link, and everything is shown. Runs after each page, also when instant navigation replaced only the content.
(() => {
const pythonPrefix = /^(torch\.nn\.functional|nn\.functional|torch\.nn|torch\.ops\.aten|torch\.tensor|torch|nn|f|tensor|x)\./i
const joinedParts = /^(linalg|fft|special)\./
const mostLines = 8
const waitingStates = new Map() // of each language: navigation loads them once

// What the variants of an operator share, as docs/hooks/operator_tables.py has it.
const stemOf = name => name.replace(/\..*/, "").replace(/^_+|_+$/g, "").replace(/_(forward|backward)$/, "")

function loadStates(home) {
  const address = new URL(`${home}assets/operator-states.json`, location).href
  if (!waitingStates.has(address))
    waitingStates.set(address, fetch(address).then(answer => answer.json()).then(prepared).catch(problem => {
      waitingStates.delete(address)
      throw problem
    }))
  return waitingStates.get(address)
}

function prepared(states) {
  states.known = new Map() // names without overload, with the number of their sentence, or numbers by overload
  for (const bases of Object.values(states.stems))
    for (const [base, found] of Object.entries(bases)) states.known.set(base, found)
  states.callers = new Map(Object.keys(states.calls).map(name => [name.toLowerCase(), name]))
  return states
}

// What is asked for: names behind `aten::` or `aten.`, in the place of an error that names the operator; operators of
// other libraries; or a name as Python writes it. In a line of words, what can be nothing but the name of an operator.
function askedIn(text, states) {
  const named = [...text.matchAll(/\baten(?:::|\.)(\w+(?:\.\w+)?)/gi)].map(found => found[1].toLowerCase())
  if (named.length) return [...new Set(named)].slice(0, 4).map(name => operatorAnswer(name.replace(/\.default$/, ""), states))
  const elsewhere = text.match(/\b(?!at\b|c10\b|std\b|torch\b|mps\b|native\b|caffe2\b|metal\b)([a-z_]\w*)::([a-z_]\w*)(?!\w|::|\()/)
  if (elsewhere) return [packageAnswer(elsewhere[1], elsewhere[0], states)]
  const words = text.split(/[^\w.]+/).map(word => word.replace(/^\.+|\.+$/g, "")).filter(Boolean)
  if (!words.length) return []
  if (/^(torchvision|tv)\./.test(words[0]) || states.torchvision.includes(words[0])) return [packageAnswer("torchvision", words[0], states)]
  const phrase = words.length < 4 && words.every(word => /^[a-z0-9]+$/i.test(word)) && words.join("_").toLowerCase()
  if (states.known.has(phrase)) return [operatorAnswer(phrase, states)]
  const called = text.match(/^\W*[\w.]+\s*\(/)
  if (words.length === 1 || called) return [pythonAnswer(words[0], states)]
  const telling = words.filter(word => isName(word, states)).map(word => pythonAnswer(word, states))
    .filter(answer => answer.lines.length)
  return telling.length ? telling.sort((one, other) => other.asked.length - one.asked.length).slice(0, 1)
    : [{ asked: words.join(" "), lines: [], html: states.words.words }]
}

// In a line of words: a name with an underscore, a capital inside or a prefix of PyTorch; no file, no attribute.
function isName(word, states) {
  const bare = word.replace(pythonPrefix, "")
  const [base, overload] = bare.toLowerCase().replace(joinedParts, "$1_").split(".")
  return (bare !== word || /_|[a-z][A-Z]/.test(word)) && (!overload || overload in Object(states.known.get(base)))
}

function packageAnswer(name, asked, states) {
  const words = states.words
  const html = name === "torchvision" ? words.torchvision
    : (states.pytorch.includes(name) ? words.pytorch : words.package).replace("{package}", name)
  return { asked, lines: [], html, subject: true }
}

// A name as Python writes it: what modules and functions are known to call, or the operator of that name.
function pythonAnswer(word, states) {
  const plain = word.replace(/^(torch\.)?nn\.functional\./i, "F.").replace(/^torch\.nn\./i, "nn.")
  const bare = plain.replace(pythonPrefix, "")
  const name = bare.toLowerCase().replace(joinedParts, "$1_")
  const prefixed = bare !== plain || plain !== word
  const spellings = prefixed ? [plain, `torch.${plain}`] : /[A-Z]/.test(bare) ? [`nn.${bare}`, `torch.distributions.${bare}`] : []
  if (!states.known.has(name.replace(/\..*/, "")) || composed(name, states)) spellings.push(`torch.${bare}`, `F.${bare}`, `nn.${bare}`)
  const caller = spellings.map(each => states.callers.get(each.toLowerCase())).find(Boolean)
  if (caller) return callerAnswer(caller, name, states)
  const snake = bare.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()
  const operator = [name, snake].find(each => states.known.has(each.replace(/\..*/, "")))
  if (operator) return operatorAnswer(operator, states)
  if (prefixed && /^nn\./.test(plain)) return { asked: word, lines: [], html: states.words.module, subject: true }
  return operatorAnswer(name, states)
}

const composed = (name, states) => states.sentences[numberOf(name, "", states)]?.includes("#find")

function numberOf(base, overload, states) {
  const found = states.known.get(base)
  return typeof found === "object" ? found[overload] : found
}

function callerAnswer(caller, name, states) {
  const lines = new Map()
  for (const used of states.calls[caller].split(" ")) {
    const [base, overload = ""] = used.split(".")
    addLines(lines, base, overload, states)
    if (composed(base, states)) for (const other of Object.keys(states.stems[stemOf(base)])) addLines(lines, other, null, states)
  }
  return { asked: caller, calls: true, lines: [...lines], rows: states.calls[caller].split(" ").map(used => used.replace(/\..*/, "")) }
}

// Puts a name below the number of its sentence; with an overload that is known, only that one.
function addLines(lines, base, overload, states) {
  const found = states.known.get(base)
  const add = (number, name) => lines.set(number, [...new Set([...lines.get(number) ?? [], name])])
  if (typeof found === "number") return add(found, base)
  if (overload && overload in found) return add(found[overload], `${base}.${overload}`)
  const numbers = Object.values(found)
  for (const number of new Set(numbers)) {
    const those = Object.keys(found).filter(each => found[each] === number)
    if (those.includes("")) add(number, base)
    else for (const each of those) add(number, `${base}.${each}`)
  }
}

function operatorAnswer(name, states) {
  const [base, overload = ""] = name.split(".")
  const lines = new Map()
  if (!states.known.has(base)) return unknownAnswer(base, states)
  addLines(lines, base, overload, states)
  const exact = overload && overload in Object(states.known.get(base))
  if (!exact && stemOf(base) === base)
    for (const other of Object.keys(states.stems[base])) if (other !== base) addLines(lines, other, null, states)
  return { asked: base, lines: [...lines], rows: [base] }
}

function unknownAnswer(name, states) {
  const names = [...states.known.keys()]
  const holding = name.length > 2 ? names.filter(each => each.includes(name)) : []
  const allowed = Math.max(1, Math.floor(name.length / 4))
  const near = names.map(each => [distance(name, each, allowed), each]).filter(([far]) => far <= allowed).sort((one, other) => one[0] - other[0])
  const offered = near.length ? near.map(([, each]) => each) : holding.sort((one, other) => one.length - other.length)
  return { asked: name, lines: [], none: true, offered: offered.slice(0, 5), contains: near.length === 0 && holding.length > 0 }
}

// The number of letters to change, add or take away, or more than `most`.
function distance(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let row = [...Array(other.length + 1).keys()]
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++)
      next[to] = Math.min(next[to - 1] + 1, row[to] + 1, row[to - 1] + (one[at - 1] !== other[to - 1]))
    row = next
  }
  return row[other.length]
}

// While something is asked for, the page shows what was found right below the box: sections that hold none of it are
// put aside, and so is the text in front of a table. What explains the table stays behind it.
function putAside(box, groups, asked) {
  let before = []
  let shown = !asked
  let within = true // in a section, and past its table
  for (let part = box.nextElementSibling; part; part = part.nextElementSibling) {
    part.classList.remove("operator-aside")
    if (!asked) continue
    if (part.localName === "h2") {
      before = [part]
      within = false
    } else if (groups.has(part)) {
      shown = !part.classList.contains("operator-none")
      for (const item of [...before, part]) item.classList.toggle("operator-aside", !shown || before.indexOf(item) > 0)
      within = true
    } else if (!within) before.push(part)
    else part.classList.toggle("operator-aside", !shown)
  }
}

// The names in a cell or an item; what Macs found of them stands behind (docs/hooks/mac_marks.py).
function namesIn(place) {
  const behind = [...place.querySelectorAll(".mac-mark")].map(mark => mark.textContent).join("").length
  return place.textContent.slice(0, -behind || undefined).toLowerCase().split(/\s+/)
}

function startOperatorFilter() {
  const box = document.querySelector("[data-operator-finder]")
  if (!box) return
  const field = box.querySelector("input")
  const status = box.querySelector("[role=status]")
  const home = box.dataset.home
  const groups = [...document.querySelectorAll("[data-operators]")]
    .map(group => ({ group, entries: [...group.querySelectorAll("tbody tr, li")]
      .map(entry => ({ entry, names: namesIn(entry.cells ? entry.cells[0] : entry) })) }))
  const tables = new Set(groups.map(({ group }) => group))

  // Shows what has one of these stems, or a part of a name.
  function filterTables(stems, part = "") {
    const all = !stems.length && !part
    const wanted = names => all || names.some(name => stems.includes(stemOf(name)) || (part && name.includes(part)))
    let found = 0
    for (const { group, entries } of groups) {
      let here = 0
      for (const { entry, names } of entries)
        here += !(entry.hidden = !wanted(names))
      found += here
      group.classList.toggle("operator-none", here === 0)
      if (group.localName === "details") group.open = !all && here > 0
    }
    if (!all && !found) return filterTables([]) // in older releases only: everything stays
    putAside(box, tables, !all)
    return all ? 0 : found
  }

  const made = (tag, text, parent) => parent.appendChild(Object.assign(document.createElement(tag), { textContent: text }))
  const names = (list, parent, joint) => list.forEach((name, at) => {
    if (at) parent.append(joint)
    made("code", name, parent)
  })

  function showAnswer(answer, words) {
    const line = made("p", "", status)
    const asked = answer.asked.length > 60 ? `${answer.asked.slice(0, 60)}…` : answer.asked
    if (answer.html) {
      if (answer.subject) made("code", asked, line), line.append(" ")
      line.insertAdjacentHTML("beforeend", answer.html.replaceAll("@home/", home))
    } else if (answer.none) {
      line.append(`${words.none}${words.colon}`)
      made("code", asked, line)
      if (!answer.offered.length) return
      const offer = made("p", `${answer.contains ? words.contains : words.near}${words.colon}`, status)
      answer.offered.forEach(name => {
        offer.append(" ")
        const button = made("button", name, offer)
        button.type = "button"
        button.onclick = () => { field.value = name; show(); field.focus() }
      })
    } else {
      line.remove()
      if (answer.calls) {
        const caller = made("p", "", status)
        made("code", asked, caller)
        caller.append(` ${words.calls}${words.colon}`)
      }
      const list = made("ul", "", status)
      for (const [number, found] of answer.lines.slice(0, mostLines)) {
        const item = made("li", "", list)
        names(found.slice(0, 5), item, words.joint)
        if (found.length > 5) item.append("…")
        item.append(words.colon)
        item.insertAdjacentHTML("beforeend", answerText(number).replaceAll("@home/", home))
      }
    }
  }

  let states
  const answerText = number => states.sentences[number]

  async function show() {
    const text = field.value.trim()
    try {
      states = text ? await loadStates(home) : states
    } catch { // offline: the tables can be filtered all the same
      filterTables([], text.toLowerCase().replace(/^.*aten::|['"`]/g, ""))
      return
    }
    if (text !== field.value.trim()) return // more has been typed
    const answers = text ? askedIn(text, states) : []
    status.replaceChildren()
    for (const answer of answers) showAnswer(answer, states.words)
    const found = filterTables(answers.flatMap(answer => answer.rows ?? []).map(stemOf), answers.find(answer => answer.contains)?.asked)
    if (found) made("p", states.words.entries.replace("{found}", found), status)
  }

  field.addEventListener("input", show)
  field.parentElement.hidden = false
  box.querySelector(".operator-plain").hidden = true
  show() // a reloaded page may come with the field as it was left
}

if (window.document$) document$.subscribe(startOperatorFilter)
else document.addEventListener("DOMContentLoaded", startOperatorFilter)
})()
