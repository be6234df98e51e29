import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { host } from './host.ts'

/** The first screen leaves the focus where a browser puts it. */
let isFirst = true

/** A screen with its heading, which gets the focus when it opens: a screen reader then says where it is. */
export function Screen({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} – ${host.title}`
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [title])
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </>
  )
}
