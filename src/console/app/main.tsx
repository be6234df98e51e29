import './app.css'
import { render } from 'preact'
import { App } from './shell.tsx'

const root = document.getElementById('app')
if (root) {
  root.replaceChildren()
  render(<App />, root)
}
