// Errors of the receiver: problem documents (RFC 9457), as the API of a deployment has them.

const TITLES = /** @type {const} */ ({
  'invalid-request': [400, 'The request is invalid'],
  unauthenticated: [401, 'The signature is missing or invalid'],
  'method-not-allowed': [405, 'The method is not allowed'],
  'too-large': [413, 'The request is too large'],
  'unsupported-media-type': [415, 'The media type is not supported'],
  misconfigured: [500, 'The receiver is misconfigured'],
  'chat-unavailable': [503, 'The chat did not accept the change'],
  'store-unavailable': [503, 'The activity cannot be counted now'],
})

/** An error that ends a delivery with a response. */
export class Problem extends Error {
  /**
   * @param {keyof typeof TITLES} slug
   * @param {string} detail
   * @param {Record<string, string>} [headers]
   */
  constructor(slug, detail, headers = {}) {
    super(detail)
    const [status, title] = TITLES[slug]
    this.document = { type: `/problems/${slug}`, title, status, detail }
    this.headers = headers
  }
}

/**
 * Returns a problem document as a response.
 * @param {{ status: number }} document
 * @param {Record<string, string>} [headers]
 */
export const problemResponse = (document, headers) =>
  new Response(JSON.stringify(document), {
    status: document.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  })
