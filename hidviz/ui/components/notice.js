// Something a user should know, with its cure beside it; it can be put away.

export function render({ model }) {
  const text = make("span", { role: "alert" })
  const cure = button({ class: "cure" }, () => model.send_msg({ press: "cure" }))
  const close = button({ "aria-label": _("Close") }, () => model.send_msg({ press: "close" }), "×")
  const box = make("div", { class: "box" }, text, cure, close)
  follow(model, ["text", "cure"], () => {
    say(text, model.text)
    say(cure, model.cure)
    box.hidden = !model.text
    cure.hidden = !model.cure
  })
  return themed(model, box)
}
