// Icons of buttons, as paths in a box of 24 by 24.

const ICONS = {
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zm8 0h4v14h-4z",
  step: "M6 6l8.5 6L6 18zM16 6h2.5v12H16z",
  half: "M6 6l8.500 6L6 18zM17 5h1.600v3H17zm0 5.500h1.600v3H17zm0 5.500h1.600v3H17z",
  reset: "M3 5h18v2H3zm2 4h14l-1 12H6zm4 3v6h1.600v-6zm4.400 0v6H15v-6z",
  pin: "M8 3h8v2l-1 1v5l3 3v2h-5v6h-2v-6H6v-2l3-3V6L8 5z",
  bars: "M5 4h4v1.600H7.800v12.800H9V20H5v-1.600h1.200V5.600H5zm9 3h4v1.600h-1.200v6.800H18V17h-4v-1.600h1.200V8.600H14z",
  rewind: "M12 5V1L7 6l5 5V7a6 6 0 1 1-6 6H4a8 8 0 1 0 8-8z",
  start: "M4 18.6 14.6 8H12V6h6v6h-2V9.4L5.4 20zM4 5.4 5.4 4l4.2 4.2-1.4 1.4zM14 15.4l1.4-1.4 2.6 2.6V14h2v6h-6v-2h2.6z",
  data: "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zm0 2v14h14V5zm2 2h3v3H7zm7 7h3v3h-3zm0-7h3v3h-3zm-7 7h3v3H7zm3.5-3.5h3v3h-3z",
  undo: "M8 7V3L2 9l6 6v-4h5a5 5 0 0 1 0 10H8v2h5a7 7 0 0 0 0-16z",
  redo: "M16 7V3l6 6-6 6v-4h-5a5 5 0 0 0 0 10h5v2h-5a7 7 0 0 1 0-16z",
  stop: "M6 6h12v12H6z",
  board: "M3 4h18v12H3zm2 2v8h14V6zm6 10h2v2l4 3h-2.600L12 19l-2.400 2H7l4-3z",
  share: "M10 13a4 4 0 0 1 0-5.6l3-3A4 4 0 0 1 18.600 10l-1.500 1.500-1.400-1.400 1.500-1.500a2 2 0 0 0-2.800-2.800l-3 3a2 2 0 0 0 0 2.800zm4-2a4 4 0 0 1 0 5.600l-3 3A4 4 0 0 1 5.400 14l1.500-1.500 1.400 1.400-1.500 1.500a2 2 0 0 0 2.800 2.800l3-3a2 2 0 0 0 0-2.800z",
  help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18a8 8 0 1 1 0-16 8 8 0 0 1 0 16zm-1-4h2v2h-2zm1-10a4 4 0 0 0-4 4h2a2 2 0 1 1 2.900 1.800C11.700 12.400 11 13.200 11 15h2c0-1 .4-1.400 1.200-1.900A4 4 0 0 0 12 6z",
}

const pictured = (icon) =>
  draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: ICONS[icon] }))
