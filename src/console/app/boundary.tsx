import type { ComponentChildren } from 'preact'
import { useErrorBoundary, useRef } from 'preact/hooks'
import { type Place, place } from './router.ts'
import { Screen } from './screen.tsx'

/** Draws a screen. In place of one that throws: a sentence with the next step, until the reader goes elsewhere or draws it again. */
export function Boundary({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const failedAt = useRef<Place>(null)
  const [error, drawAgain] = useErrorBoundary((error) => {
    failedAt.current = place.value
    console.error(error)
  })
  if (error === undefined || failedAt.current !== place.value) return <>{children}</>
  return (
    <Screen title={title}>
      <div class="failure" role="alert">
        <p>
          This screen cannot be drawn: the page does not understand an answer of the host. Draw it again, or reload the
          page after a new version of the host was deployed. If it stays so, report the error in the console of your
          browser.
        </p>
        <p>
          <button type="button" onClick={drawAgain}>
            Draw it again
          </button>
        </p>
      </div>
    </Screen>
  )
}
