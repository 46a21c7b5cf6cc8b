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

// A section that has left this page: docs/hooks/moved_pages.py gives its new address.
document$.subscribe(() => {
  const moved = document.getElementById("moved-sections")
  const place = moved && JSON.parse(moved.textContent)[location.hash.slice(1)]
  if (place) location.replace(place)
})

// The section that is being read changes without a new page: refresh the address when it is needed.
document.addEventListener("pointerdown", refreshSwitch)
document.addEventListener("focusin", refreshSwitch)
function refreshSwitch(event) {
  const link = event.target.closest?.("[data-language-switch]")
  if (link) link.href = counterpart(link.dataset.languageSwitch)
}

// The theme puts wide tables into boxes that scroll sideways. Those need to be reachable by keyboard.
function markScrollable() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute("tabindex")
}
document$.subscribe(() => setTimeout(markScrollable, 100)) // after the theme has made the boxes
addEventListener("resize", markScrollable)

// The theme wraps each copy button in a <nav>, dozens of landmarks without a name. Number them.
new MutationObserver(() => {
  const word = document.documentElement.lang === "zh" ? "代码块" : "Code block"
  document.querySelectorAll(".md-code__nav").forEach((bar, index) => {
    if (!bar.ariaLabel) bar.ariaLabel = `${word} ${index + 1}`
  })
}).observe(document.body, { childList: true, subtree: true })

// A link to a folded section, or to something in it, opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const fold = target?.closest(".folded-section")
  if (!fold || fold.open) return
  fold.open = true
  target.scrollIntoView()
}
document$.subscribe(openTarget)
addEventListener("hashchange", openTarget)

// On paper, a link that leaves the site shows its address (site.css). The theme made all links absolute.
addEventListener("beforeprint", () => {
  for (const link of document.links) link.classList.toggle("inside", link.origin === location.origin)
})

// The page as Markdown (docs/hooks/page_markdown.py): copied where the browser lets us, otherwise opened.
document.addEventListener("click", async event => {
  const link = event.target.closest?.("[data-copy-page]")
  if (!link || !globalThis.ClipboardItem || !navigator.clipboard?.write) return
  event.preventDefault()
  const text = fetch(link.href).then(async answer => {
    if (!answer.ok) throw new Error(answer.status)
    return new Blob([await answer.text()], { type: "text/plain" })
  })
  try {
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]) // Safari wants it within the click
    alert$.next(link.dataset.copyPage)
  } catch {
    location.href = link.href
  }
})

// A block that needs more of its file than it shows is copied with that (docs/hooks/code_badges.py).
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-clipboard-target]")
  const line = button?.closest(".highlight")?.nextElementSibling?.querySelector(":scope > .code-origin[data-copy]")
  if (line) button.dataset.clipboardText = line.dataset.copy
}, true)
