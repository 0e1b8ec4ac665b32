/**
 * What all pages look like: colors, text, links, the focus ring and disabled buttons. The contrast is at least 4.5:1 for
 * text and 3:1 for the borders of fields (WCAG 2.2, 1.4.3 and 1.4.11), light and dark.
 */
import { html } from './html.ts'

export const BASE_STYLES = html`
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
@media screen and (prefers-color-scheme: dark) {
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
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  -webkit-text-size-adjust: 100%;
}
a {
  color: var(--accent);
  text-underline-offset: 0.2em;
}
a:hover {
  color: var(--accent-strong);
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
button:disabled,
button:disabled:hover {
  background: var(--edge);
  color: var(--quiet);
  cursor: default;
}
`
