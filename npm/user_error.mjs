/** An error with a message for the user, printed without a stack trace. */
export class UserError extends Error {}
