// "Operators by version": keeps the rows and names that contain what is typed or pasted. Without this file
// everything is shown. Runs after each page, also when instant navigation replaced only the content.
const operatorPrefix = /^(torch\.)?(ops\.aten\.|nn\.functional\.|nn\.|f\.|tensor\.)?/

// Returns the operator in what is typed: the name behind `aten::` or `aten.`, wherever it is in a pasted error, or a
// name as Python writes it (torch.linalg.qr, F.gelu(x)), without quotes, brackets and overload. In a line of words it
// is the longest one that is an operator.
function operatorIn(text, known) {
  const typed = text.trim().toLowerCase()
  const named = typed.match(/\baten(?:::|\.)([a-z0-9_]*)/)
  if (named) return named[1]
  const words = typed.split(/[^a-z0-9_.:]+/).map(word => word.includes("::") ? word : word
    .replace(operatorPrefix, "").replace(/^(linalg|fft|special)\./, "$1_").replace(/[.:].*/, "")).filter(Boolean)
  const operators = words.filter(word => known.has(word)).sort((one, other) => other.length - one.length)
  return (words.length > 1 && operators[0]) || words.join("_")
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
  const known = new Set(groups.flatMap(({ entries }) => entries.flatMap(({ names }) => names.split(/\s+/)))
    .map(name => name.replace(/\..*/, "")))
  const tables = new Set(groups.map(({ group }) => group))

  function show() {
    const wanted = operatorIn(field.value, known)
    let found = 0
    for (const { group, entries } of groups) {
      let here = 0
      for (const { entry, names } of entries) here += !(entry.hidden = !names.includes(wanted))
      found += here
      group.classList.toggle("operator-none", here === 0)
      if (group.localName === "details") group.open = wanted !== "" && here > 0
    }
    putAside(box, tables, wanted !== "" && found > 0)
    const words = found ? box.dataset.found : box.dataset.nothing
    status.textContent = wanted ? words.replace("{found}", found).replace("{total}", total)
      .replace("{name}", () => wanted.length > 60 ? `${wanted.slice(0, 60)}…` : wanted) : ""
  }
  field.addEventListener("input", show)
  box.hidden = false
  show() // a reloaded page may come with the field as it was left
}

if (window.document$) document$.subscribe(startOperatorFilter)
else document.addEventListener("DOMContentLoaded", startOperatorFilter)
