// "Which PyTorch for my Mac": shows the row of the table that the three selects name. Without this file the
// table says the same. Runs after each page, also when instant navigation replaced only the content.
function startVersionPicker() {
  const picker = document.querySelector("[data-version-picker]")
  if (!picker) return
  const form = picker.querySelector("form")
  const [versions, command, notes] = ["__versions", "__answer code", "__notes"]
    .map(part => picker.querySelector(".version-picker" + part))
  const rows = [...picker.querySelectorAll("tbody tr")]

  function show() {
    const chosen = new FormData(form)
    const row = rows.find(row =>
      [...chosen].every(([name, value]) => row.dataset[name].split(" ").includes(value)))
    for (const other of rows) other.classList.toggle("version-picker__chosen", other === row)
    const [, , , install, what] = row.cells
    const line = install.querySelector("code")
    versions.textContent = row.dataset.versions
    command.textContent = line ? line.textContent : ""
    command.parentElement.hidden = !line
    notes.textContent = what.textContent
  }
  form.addEventListener("change", show)
  show() // a reloaded page may come with the selects as they were left
}

if (window.document$) document$.subscribe(startVersionPicker)
else document.addEventListener("DOMContentLoaded", startVersionPicker)
