// What makes pages live. Everything can be read without it.
import { follow } from "./live.js";
import { startCopy } from "./copy.js";
import { startDialogs } from "./dialog.js";
import { startKeyboard } from "./keyboard.js";
import { startPalette } from "./palette.js";
import { startPanel } from "./panel.js";
import { startTheme } from "./theme.js";
import { keepTimes } from "./time.js";

document.documentElement.classList.add("has-script");
keepTimes();
startTheme();
startCopy();
startDialogs();
startPanel();
startPalette();
startKeyboard();
follow();

// A note about what was done is shown once: not again by Back or a reload.
const here = new URL(location.href);
if (here.searchParams.has("note")) {
  here.searchParams.delete("note");
  history.replaceState(history.state, "", here);
}
