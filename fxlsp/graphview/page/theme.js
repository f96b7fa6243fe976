"use strict";
// Dark or light: as in the editor or system, until the user chooses one.

class Theme {
  constructor(button) {
    this.button = button;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.choice = this.#kept();
    this.system.addEventListener("change", () => this.#apply());
    new MutationObserver(() => this.#apply()).observe(document.body, { attributeFilter: ["class"] });
    button.addEventListener("click", () => {
      this.choice = this.isDark ? "light" : "dark";
      this.#keep();
      this.#apply();
    });
    this.#apply();
  }

  get isDark() {
    if (this.choice) return this.choice === "dark";
    const editor = document.body.className.match(/vscode-(high-contrast-light|light|dark|high-contrast)/);
    return editor ? !editor[1].endsWith("light") : this.system.matches;
  }

  #apply() {
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    this.button.textContent = this.isDark ? "light" : "dark";
  }

  // A page from a file, or in a frame, may have no storage.
  #kept() {
    try {
      return localStorage.getItem("fxlsp-theme");
    } catch {
      return null;
    }
  }

  #keep() {
    try {
      localStorage.setItem("fxlsp-theme", this.choice);
    } catch {
      // The choice lasts until the page is closed.
    }
  }
}
