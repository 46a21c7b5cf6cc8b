// Runs after each page, also when instant navigation replaced only the content.
// `__md_scope` is the address of the English home page, set by the theme and overrides/main.html.
function counterpart(language) {
  const path = location.href.split("#")[0].slice(__md_scope.href.length)
  const page = path.replace(/^zh\//, "")
  return __md_scope.href + (language === "zh" ? "zh/" : "") + page + location.hash
}

document$.subscribe(() => {
  for (const link of document.querySelectorAll("[data-language-switch]"))
    link.href = counterpart(link.dataset.languageSwitch)
})

// The section that is being read changes without a new page: refresh the address when it is needed.
document.addEventListener("pointerdown", refreshSwitch)
document.addEventListener("focusin", refreshSwitch)
function refreshSwitch(event) {
  const link = event.target.closest?.("[data-language-switch]")
  if (link) link.href = counterpart(link.dataset.languageSwitch)
}
