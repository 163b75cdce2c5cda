// A Worker that receives the signed webhooks of a source and sends activity to a deployment. In reading order:
//
//   receiver.js     the Worker: checks of a delivery, the response
//   mapping.js      mapping files: which activity an event is
//   deployment.js   the requests to the deployment
//   signature.js    signatures of webhooks
//   chat.js         roles and commands of a chat
//   problem.js      errors
//
// discourse.js, generic.js, ghost.js and github.js are the sources, discord.js and slack.js the chats, each an export of its own.
// bin.js copies a recipe.

export { chatWorker } from './chat.js'
export { receiver } from './receiver.js'
export { concatenate, isHexSignature, isHmac } from './signature.js'

/** @typedef {import('./types.js').Chat} Chat */
/** @typedef {import('./types.js').ChatMapping} ChatMapping */
/** @typedef {import('./types.js').Mapping} Mapping */
/** @typedef {import('./types.js').Source} Source */
