/** JSON as text, so that it can be written badly: a key may come twice, and any text may stand for a value. */
export type Tree = Branch | { readonly text: string }

/** An object or a list; a list ignores the keys. */
export interface Branch {
  readonly kind: 'object' | 'list'
  readonly children: Child[]
}

export interface Child {
  readonly key: string
  readonly tree: Tree
}

/** A child of a branch, which can be changed. */
export interface Place {
  readonly branch: Branch
  readonly index: number
}

export function treeOf(value: unknown): Tree {
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value) }
  const children = Object.entries(value).map(([key, member]) => ({ key, tree: treeOf(member) }))
  return { kind: Array.isArray(value) ? 'list' : 'object', children }
}

export function write(tree: Tree): string {
  if ('text' in tree) return tree.text
  const parts = tree.children.map(({ key, tree: child }) =>
    tree.kind === 'list' ? write(child) : `${JSON.stringify(key)}:${write(child)}`,
  )
  return tree.kind === 'list' ? `[${parts.join()}]` : `{${parts.join()}}`
}

/** All places, outermost first. */
export function placesOf(tree: Tree): readonly Place[] {
  if ('text' in tree) return []
  return [
    ...tree.children.map((_, index) => ({ branch: tree, index })),
    ...tree.children.flatMap(({ tree: child }) => placesOf(child)),
  ]
}
