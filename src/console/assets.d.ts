/** The console's files, built from `app/`. */
declare module 'sallyport:console-assets' {
  export interface ConsoleAssets {
    /** Names of the files that the page loads. */
    readonly script: string
    readonly style: string
    /** The inline script of the preview, and its hash for the policy: base64 of SHA-256. */
    readonly preview: { readonly script: string; readonly hash: string }
    /** Texts of all files, by their hashed names. */
    readonly files: Readonly<Record<string, string>>
  }
  export const CONSOLE_ASSETS: ConsoleAssets
}
