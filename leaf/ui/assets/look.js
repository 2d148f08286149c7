// The choice between light and dark, in Settings: this browser keeps it, and every page of it that is loaded from then on has it
// (look_chosen.js). leaf/ui/look_choice.py says the words.

const KEPT = "leaf-look"

const keptLook = () => {
  try {
    return localStorage.getItem(KEPT)
  } catch {
    return null
  }
}

export default function ({ data, parentElement }) {
  const group = parentElement.querySelector(".leaf-looks")
  group.setAttribute("aria-label", data.name)
  const now = data.looks.some(([look]) => look === keptLook()) ? keptLook() : data.looks[0][0]
  group.replaceChildren(
    ...data.looks.map(([look, said, icon]) => {
      const button = document.createElement("button")
      button.type = "button"
      button.setAttribute("aria-pressed", look === now)
      button.onclick = () => {
        try {
          localStorage.setItem(KEPT, look)
        } catch {
          return tell(group, data.problem)
        }
        location.reload()
      }
      const sign = document.createElement("span")
      sign.className = "leaf-icon"
      sign.setAttribute("aria-hidden", "true")
      sign.translate = false
      sign.textContent = icon
      button.append(sign, said)
      return button
    }),
  )
}

const tell = (group, said) => {
  const told = document.createElement("p")
  told.setAttribute("role", "alert")
  told.textContent = said
  group.append(told)
}
