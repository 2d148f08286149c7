// Buttons that open the browser's own window to choose files or a folder. What is chosen goes to the list of uploads on the same page
// (uploads.js), which holds the fields.

const field = (adds) => document.querySelector(`.leaf-uploads input[data-adds="${adds}"]`)
const AGAIN = 100
const TRIES = 30

// On a page that is just being drawn the list of uploads may come after the button.
const choose = (adds, tries = TRIES) => {
  if (field(adds)) field(adds).click()
  else if (tries) setTimeout(() => choose(adds, tries - 1), AGAIN)
}

const button = (className, label, icon, adds) => {
  const made = document.createElement("button")
  made.type = "button"
  made.className = className
  const sign = document.createElement("span")
  sign.className = "leaf-icon"
  sign.textContent = icon
  sign.setAttribute("aria-hidden", "true")
  sign.translate = false
  made.append(sign, label)
  made.onclick = () => choose(adds)
  return made
}

export default function ({ data, parentElement }) {
  const box = parentElement.querySelector(".leaf-chooser")
  if (box.firstChild) return
  speak(data)
  const zone = data.form === "zone"
  box.classList.add(zone ? "leaf-chooser-zone" : "leaf-chooser-buttons")
  if (zone) box.append(button("leaf-zone", data.label, "upload_file", "files"))
  else box.append(button("leaf-choose", t("Files from this computer"), "upload_file", "files"))
  box.append(button("leaf-choose", t("A whole folder"), "drive_folder_upload", "folder"))
}
