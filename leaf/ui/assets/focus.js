// Whoever works by keyboard goes on where they were: when a preview is closed, a dialog left or a question not edited after all, the focus
// goes back to what was pressed for it, and to the text when a question is edited. Streamlit leaves it nowhere then, and Tab begins at the
// top of the page. leaf/ui/page_head.py puts it into the page.

const PERIOD = 60
const PATIENCE = 5000
const PREVIEW = ".st-key-preview"
const DIALOG = '[data-testid="stDialog"]'
const EDITOR = '[class*="st-key-edited-"]'
const EDIT = '[class*="st-key-icon-edit-"]:not([class*="st-key-icon-edit-save-"])'
const COMPOSER = '[data-testid="stChatInputTextArea"]'

let pressed = null // last, but for what stands in a dialog, a menu or the editor
let opener = null // the same, but for what stands in a preview
let waiting = 0

const shown = (selector) => [...document.querySelectorAll(selector)].find((one) => one.checkVisibility())

const known = (element) => {
  const holder = element.closest('[class*="st-key-"]')
  const key = holder && [...holder.classList].find((name) => name.startsWith("st-key-"))
  return { element, selector: key && `.${CSS.escape(key)} ${element.tagName.toLowerCase()}` }
}

const again = (one) => {
  if (one?.element.isConnected) return one.element
  return (one?.selector && shown(one.selector)) || shown(COMPOSER)
}

// The focus goes to what `ready` gives, once it gives something, unless it has gone elsewhere by itself.
const goOn = (ready) => {
  const until = performance.now() + PATIENCE
  let looks = 0
  const look = () => {
    const target = ready()
    if (performance.now() > until || (target && document.activeElement !== document.body)) return
    if (target && looks++) return target.focus({ preventScroll: true }) // at the second look: others may still take it
    waiting = setTimeout(look, PERIOD)
  }
  clearTimeout(waiting)
  waiting = setTimeout(look, PERIOD)
}

const backWithout = (selector, one) => goOn(() => !shown(selector) && again(one))

const press = (event) => {
  const at = event.target instanceof Element && event.target.closest('button, a[href], summary, [role="menuitem"]')
  if (!at) return
  const byKeyboard = event.detail === 0
  if (at.closest(DIALOG)) return byKeyboard && backWithout(DIALOG, pressed)
  if (at.closest('[role="menu"]')) return
  if (at.closest('[data-testid="stForm"]')?.querySelector(EDITOR)) return byKeyboard && backWithout(EDITOR, pressed)
  if (at.closest(".st-key-icon-preview-close")) return byKeyboard && backWithout(PREVIEW, opener)
  pressed = known(at)
  if (!at.closest(PREVIEW)) opener = pressed
  if (at.closest(EDIT) && (byKeyboard || matchMedia("(pointer: fine)").matches)) goOn(() => shown(`${EDITOR} textarea`))
}

addEventListener("click", press, true)
addEventListener("keydown", (event) => event.key === "Escape" && shown(DIALOG) && backWithout(DIALOG, pressed), true)
