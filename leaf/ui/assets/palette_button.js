// A button that opens the palette (palette.js).

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector(".leaf-palette-button")
  if (!button.firstChild) {
    const icon = document.createElement("span")
    icon.className = "leaf-icon"
    icon.setAttribute("aria-hidden", "true")
    icon.translate = false
    icon.textContent = data.icon
    const label = document.createElement("span")
    button.append(icon, label)
    button.setAttribute("aria-haspopup", "dialog")
  }
  button.style.visibility = ""
  if (button.lastChild.textContent !== data.label) button.lastChild.textContent = data.label
  button.onclick = () => window.dispatchEvent(new CustomEvent("leaf-palette", { detail: { only: data.only } }))
}
