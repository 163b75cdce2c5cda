// Shares a picture of the service as PNG: with what the system offers, else as a download.
//
// The browser draws it: a rasterizer in the Worker takes more processor time than the free plan of Cloudflare allows for
// a request, see docs/embedding.md.

/**
 * @param {(url: string, options: RequestInit) => Promise<Response>} fetch
 * @param {string} url of an SVG with a width and a height
 * @param {string} name of the file
 * @param {string} text that is shared with it
 * @throws {Error} if the picture cannot be loaded or drawn
 */
export async function share(fetch, url, name, text) {
  const response = await fetch(url, {})
  if (!response.ok) throw new Error(`${url}: status ${response.status}`)
  const blob = await draw(await response.text())
  const file = new File([blob], name, { type: 'image/png' })
  if (!navigator.canShare?.({ files: [file] })) return download(blob, name)
  // A reader who closes the dialog has not failed.
  await navigator.share({ files: [file], text }).catch((error) => {
    if (error.name !== 'AbortError') throw error
  })
}

async function draw(svg) {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
  canvas.getContext('2d').drawImage(image, 0, 0)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png')
  })
}

function download(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1e4)
}
