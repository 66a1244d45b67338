// What makes pages live. Everything can be read without it.
import { follow } from "./live.js";
import { startCopy } from "./copy.js";
import { startDialogs } from "./dialog.js";
import { startFolds } from "./fold.js";
import { startKeyboard } from "./keyboard.js";
import { startPalette } from "./palette.js";
import { startPanel } from "./panel.js";
import { startSelection } from "./selection.js";
import { startTheme } from "./theme.js";
import { keepTimes } from "./time.js";

document.documentElement.classList.add("has-script");
keepTimes();
startTheme();
startCopy();
startDialogs();
startFolds();
startPanel();
startPalette();
startSelection();
startKeyboard();
follow();
// On a phone the rail may be wider than the screen.
document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
