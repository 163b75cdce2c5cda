// The functions of the wasm that JavaScript calls; `#[wasm_bindgen]` exports them.

export function allowsOrigin(origin: string): boolean
export function receive(event: number, shard: number): void
export function dropEvent(event: number): void
export function fail(call: number, cause: string): void
export function maxBodyBytes(): number
export function queue(event: number, batch: MessageBatch): void
export function readLive(event: number, request: string, limits: string): void
export function respond(event: number, request: string): void
export function scheduled(event: number, cron: string): void
export function writeRefusals(event: number, rows: string): void
export function settle(call: number, number: number, text: string): void
export function sharedPatterns(cached: boolean): string
/** Instantiates the wasm again. */
export function __wbg_reset_state(): void

declare global {
  /** The variables and bindings of the deployment. */
  type Env = Record<string, any>
}
