/** As `Disposable`, and nothing where the compiler's `lib` does not know that. */
export type Disposing = SymbolConstructor extends { readonly dispose: infer Key extends symbol }
  ? { readonly [dispose in Key]: () => void }
  : object

/** As `AsyncDisposable`, and nothing where the compiler's `lib` does not know that. */
export type AsyncDisposing = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? { readonly [dispose in Key]: () => Promise<void> }
  : object
