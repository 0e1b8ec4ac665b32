/**
 * The one stylesheet of the login pages, sent inside each page and allowed by its hash (D-50). Colours have
 * at least 4.5:1 for text and 3:1 for the borders of fields (WCAG 2.2, 1.4.3 and 1.4.11), light and dark.
 */
import { sha256 } from '../../base/encoding.ts'
import { html } from './html.ts'

export const STYLESHEET = html`
:root {
  color-scheme: light dark;
  --ground: #f4f5f7;
  --card: #ffffff;
  --edge: #e1e4e9;
  --ink: #1b1f26;
  --quiet: #59616e;
  --field: #ffffff;
  --line: #868f9c;
  --accent: #1f56c3;
  --accent-strong: #18459d;
  --on-accent: #ffffff;
  --alert: #a1221c;
  --alert-ground: #fdf2f1;
  --alert-edge: #f1c9c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1216;
    --card: #181c22;
    --edge: #2a3039;
    --ink: #e9ecf1;
    --quiet: #a2abb8;
    --field: #11151a;
    --line: #717b89;
    --accent: #8fb4ff;
    --accent-strong: #b1caff;
    --on-accent: #0b1a38;
    --alert: #ffb4ad;
    --alert-ground: #33191a;
    --alert-edge: #5c2b2b;
  }
}
* {
  box-sizing: border-box;
}
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100svh;
  display: flex;
  flex-direction: column;
  padding: 1.25rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  -webkit-text-size-adjust: 100%;
}
main {
  width: 100%;
  max-width: 24rem;
  margin: auto;
  padding: 2.25rem 2rem 2rem;
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: 1rem;
  box-shadow: 0 1px 2px rgb(15 20 30 / 4%), 0 12px 32px rgb(15 20 30 / 7%);
}
.mark {
  display: block;
  width: 2.5rem;
  height: 2.5rem;
  margin: 0 0 1.25rem;
  color: var(--accent);
}
h1 {
  margin: 0 0 0.5rem;
  font-size: 1.5rem;
  line-height: 1.25;
  font-weight: 650;
  letter-spacing: -0.015em;
  overflow-wrap: break-word;
}
h2 {
  margin: 0 0 0.25rem;
  font-size: 1.0625rem;
  line-height: 1.4;
  font-weight: 650;
}
p {
  margin: 0 0 1.5rem;
  color: var(--quiet);
  overflow-wrap: break-word;
}
h1 + form,
.alert {
  margin-top: 1.25rem;
}
.alert {
  padding: 0.75rem 0.875rem;
  border: 1px solid var(--alert-edge);
  border-radius: 0.5rem;
  background: var(--alert-ground);
  color: var(--alert);
  font-size: 0.9375rem;
}
label {
  display: block;
  margin: 0 0 0.375rem;
  font-size: 0.9375rem;
  font-weight: 600;
}
input {
  display: block;
  width: 100%;
  min-height: 2.875rem;
  margin: 0 0 1.125rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--field);
  color: var(--ink);
  font: inherit;
}
button {
  display: block;
  width: 100%;
  min-height: 2.875rem;
  margin: 0;
  padding: 0.5rem 1rem;
  border: 0;
  border-radius: 0.5rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover {
  background: var(--accent-strong);
}
input:not([type='hidden']) + button {
  margin-top: 1.75rem;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
input:focus-visible {
  outline-offset: -1px;
  outline-width: 2px;
  border-color: var(--accent);
}
a {
  color: var(--accent);
  text-underline-offset: 0.2em;
}
a:hover {
  color: var(--accent-strong);
}
.note,
.instead {
  margin: 1.25rem 0 0;
  font-size: 0.9375rem;
}
.instead {
  text-align: center;
}
.code {
  font-size: 1.25rem;
  font-variant-numeric: tabular-nums;
  letter-spacing: 0.15em;
}
.steps {
  margin: 1.5rem 0 0;
  padding: 0;
  list-style: none;
  counter-reset: step;
}
.steps > li {
  position: relative;
  padding: 0 0 2rem 2.5rem;
  counter-increment: step;
}
.steps > li:last-child {
  padding-bottom: 0;
}
.steps > li::before {
  content: counter(step);
  position: absolute;
  left: 0;
  top: 0;
  width: 1.625rem;
  height: 1.625rem;
  border-radius: 50%;
  background: var(--accent);
  color: var(--on-accent);
  font-size: 0.875rem;
  font-weight: 650;
  line-height: 1.625rem;
  text-align: center;
}
.steps p:where(:not(.alert, .note)) {
  margin: 0 0 1rem;
}
.qr {
  display: block;
  width: 100%;
  max-width: 14rem;
  margin: 0 0 1rem;
  border: 1px solid var(--edge);
  border-radius: 0.75rem;
}
summary {
  color: var(--quiet);
  cursor: pointer;
}
.steps details p {
  margin: 0.5rem 0;
  font-size: 0.9375rem;
}
.key span {
  display: inline-block;
  margin-right: 0.5em;
}
.codes {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(5rem, 1fr));
  gap: 0.25rem 0.75rem;
  margin: 0;
  padding: 0.875rem 1rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--ground);
  list-style: none;
  user-select: all;
}
.names {
  margin: -0.75rem 0 1.5rem;
  padding-left: 1.25rem;
  overflow-wrap: anywhere;
}
.reference {
  margin: 0;
  padding-top: 1.25rem;
  border-top: 1px solid var(--edge);
  font-size: 0.8125rem;
}
code {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
  overflow-wrap: anywhere;
  user-select: all;
}
@media (max-width: 26rem) {
  body {
    padding: 0.75rem;
  }
  main {
    padding: 1.75rem 1.25rem 1.5rem;
  }
}
@media (forced-colors: active) {
  button {
    border: 1px solid ButtonText;
  }
}
`

/** For `style-src` of the content security policy. */
export const STYLESHEET_SOURCE = `'sha256-${Buffer.from(sha256(STYLESHEET.toString())).toString('base64')}'`
