/**
 * The colors of all pages. The contrast is at least 4.5:1 for text and 3:1 for the borders of fields (WCAG 2.2, 1.4.3
 * and 1.4.11), light and dark.
 */
import { sha256 } from '../../base/encoding.ts'
import { html, type SafeHtml } from './html.ts'

export const PALETTE = html`
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
`

/** Returns the `style-src` hash of the content security policy for an inline stylesheet (D-50). */
export function styleSource(stylesheet: SafeHtml): string {
  return `'sha256-${Buffer.from(sha256(stylesheet.toString())).toString('base64')}'`
}
