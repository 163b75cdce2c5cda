// Text functions of the platform.

/** Returns a text in Unicode Normalization Form C. */
export const toNfc = (text) => text.normalize('NFC')
