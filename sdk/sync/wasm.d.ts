/** The wasm of `crates/sync-worker`, which `scripts/build-sync` puts in the place of this module. */
declare module 'wasm' {
  /** Runs once. Returns the result as JSON. */
  export function sync(run: number, settings: string): Promise<string>
}
