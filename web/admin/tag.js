// uPlot formats numbers in the language of the browser when it is loaded, and throws if that is no language tag: a browser
// started with LANG=C, as in a container, has en-US@posix.

try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: document.documentElement.lang })
}
