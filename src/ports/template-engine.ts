/** What a template gets to see: `data`, `recipient` and `events` (the data of every event of a digest), plain JSON values. */
export type TemplateFacts = Readonly<Record<string, unknown>>

/** What came of rendering a template once. */
export type Rendering =
  | { readonly outcome: 'rendered'; readonly text: string }
  /** A variable was read that the facts do not hold. `path` such as `data.order.id`. */
  | { readonly outcome: 'missing'; readonly path: string }
  /**
   * Rendering failed otherwise: a limit, a filter. `detail` must hold no value of the facts. `cause`: what was thrown, for the log and
   * `onError` alone.
   */
  | { readonly outcome: 'error'; readonly detail: string; readonly cause?: unknown }

/** A template, ready to be rendered any number of times. Gives a promise where it takes several turns of the loop. Must not throw. */
export type CompiledTemplate = (facts: TemplateFacts) => Rendering | Promise<Rendering>

/** Why a template does not compile. */
export interface TemplateFault {
  readonly fault: string
  /** 1-based. */
  readonly line?: number
  /** 1-based. */
  readonly column?: number
}

/** Compiles the string templates of a catalogue, once, when it is defined. */
export interface TemplateEngine {
  /**
   * Gives the compiled template, or the fault that stops start-up. Must be synchronous, must not read files or run code
   * from the template, and must bound the time, memory and output of rendering.
   *
   * @param escaping `html`: every value put into the text is escaped for HTML. `none`: it is put in as it is.
   */
  compile(source: string, escaping: 'html' | 'none'): CompiledTemplate | TemplateFault
}
