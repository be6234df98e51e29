import type { FactPath } from './fact-path.ts'

/** Input of a template: `data`, `recipient`, `events` (data of every event of a digest) and, if configured, `links`; plain JSON values. */
export type TemplateFacts = Readonly<Record<string, unknown>>

/** Result of rendering a template. */
export type Rendering =
  | { readonly outcome: 'rendered'; readonly text: string }
  /** The template reads a variable that the facts lack. `path` is a dotted path, such as `data.order.id`. */
  | { readonly outcome: 'missing'; readonly path: string }
  /** Rendering failed otherwise. `detail` must hold no value of the facts. `cause` is the thrown value, for log and `onError`. */
  | { readonly outcome: 'error'; readonly detail: string; readonly cause?: unknown }

/** A value of the facts that a template reads. */
export interface TemplateRead {
  readonly path: FactPath
  /** 1-based. */
  readonly line?: number
  /** 1-based. */
  readonly column?: number
}

/** A compiled template. */
export interface CompiledTemplate {
  /** Returns a promise when it renders in several time slices: at most 5 seconds, as a template function. Must not throw. */
  (facts: TemplateFacts): Rendering | Promise<Rendering>
  /**
   * Paths that the template certainly reads in the facts, also those that it may lack, such as `{{ data.nick | default: '' }}`.
   * `defineEvents` refuses names that the event's schema does not have: leave out a path in doubt, and end it before a computed
   * name. Default: no path is checked.
   */
  readonly reads?: readonly TemplateRead[]
}

/** Reason why a template does not compile. */
export interface TemplateFault {
  readonly fault: string
  /** 1-based. */
  readonly line?: number
  /** 1-based. */
  readonly column?: number
  /** Further faults of the template, if the engine could go on. Default: none. */
  readonly more?: readonly TemplateFault[]
}

/** Compiles the string templates of a catalogue once, when it is defined. */
export interface TemplateEngine {
  /**
   * Returns the compiled template, or the fault that stops start-up. Must be synchronous, must not read files or run code from the
   * template, and must limit the time, memory and output of rendering.
   *
   * @param escaping `html`: values are escaped for HTML. `none`: values are inserted unchanged.
   */
  compile(source: string, escaping: 'html' | 'none'): CompiledTemplate | TemplateFault
}
