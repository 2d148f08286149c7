// Ctrl+K before the palette (palette.js) has come, or while Streamlit draws it anew with another page: it opens as soon as it is there,
// with what was typed meanwhile. leaf/ui/page_head.py puts this into the page.

const PATIENCE = 10000
let typed = null // since Ctrl+K; null while nobody waits
let seen = false
let ending = 0

const isCommand = (event) => (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k"
const isLetter = (event) =>
  event.key.length === 1 && (event.getModifierState("AltGraph") || (!event.ctrlKey && !event.metaKey && !event.altKey))
const isField = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null

const end = () => {
  clearTimeout(ending)
  window.removeEventListener("keydown", take, true)
  window.removeEventListener("pointerdown", end, true)
  typed = null
}

const take = (event) => {
  if (event.isComposing || (!seen && isField(event.target))) return // a page such as that of signing in has no palette
  const presses = (event.key === "Enter" || event.key === " ") && event.target.closest?.("button, a[href], summary")
  if (event.key === "Tab" || presses) return end() // who goes on by other ways waits no more
  if (isCommand(event) || event.key === "Escape") event.repeat || end()
  else if (event.key === "Backspace") typed = typed.slice(0, -1)
  else if (isLetter(event)) typed += event.key
  else if (event.key !== "Enter") return
  event.preventDefault()
  event.stopImmediatePropagation()
}

// Not in the capture phase: what the palette takes itself does not come here.
window.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented || !isCommand(event)) return
  event.preventDefault()
  end()
  typed = ""
  window.addEventListener("keydown", take, true)
  window.addEventListener("pointerdown", end, true)
  ending = setTimeout(end, PATIENCE)
})

window.addEventListener("leaf-palette-here", () => {
  seen = true
  if (typed === null) return
  const words = typed
  end()
  window.dispatchEvent(new CustomEvent("leaf-palette", { detail: { typed: words } }))
})
