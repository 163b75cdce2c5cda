// The part of Scalar's standalone build that the API reference uses.

/** A reference on the page. */
export type Reference = { updateConfiguration: (configuration: object) => void }

/**
 * Renders a reference into an element. Scalar documents the configuration:
 * https://github.com/scalar/scalar/blob/main/documentation/configuration.md
 */
export function createApiReference(selector: string, configuration: object): Reference
