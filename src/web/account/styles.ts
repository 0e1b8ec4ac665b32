/** The stylesheet of the account pages: that of the login pages, with room for a menu and for lists. */
import { html } from '../login/html.ts'
import { brandedSheet } from '../login/look/branding.ts'
import { STYLESHEET } from '../login/styles.ts'

export const ACCOUNT_STYLESHEET = html`${STYLESHEET}
.account {
  display: block;
}
.account > * {
  width: 100%;
  max-width: 46rem;
  margin-left: auto;
  margin-right: auto;
}
.account main {
  margin-top: 0;
}
.account [hidden] {
  display: none;
}
.skip {
  position: absolute;
  left: -100vw;
  width: auto;
}
.skip:focus {
  position: static;
  display: block;
  margin-bottom: 0.75rem;
}
.top {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 0.75rem;
  margin-bottom: 0.75rem;
}
.top .logo,
.top .brand {
  margin: 0;
}
.top .brand {
  flex: none;
}
.top .mark {
  flex: none;
  width: 2rem;
  height: 2rem;
  margin: 0;
}
.top p {
  flex: 1 1 8rem;
  min-width: 0;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
  margin: 0;
  color: var(--ink);
  font-weight: 600;
  overflow-wrap: anywhere;
}
.menu {
  margin-bottom: 1rem;
}
.menu ul {
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem;
  margin: 0;
  padding: 0;
  list-style: none;
}
.menu a {
  display: block;
  padding: 0.5rem 0.75rem;
  border-radius: 0.5rem;
  color: var(--ink);
  text-decoration: none;
}
.menu a:hover {
  color: var(--accent);
}
.menu a[aria-current] {
  background: var(--card);
  box-shadow: inset 0 0 0 1px var(--edge);
  color: var(--accent);
  font-weight: 600;
}
.note-done {
  margin-top: 1.25rem;
  padding: 0.75rem 0.875rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--ground);
  color: var(--ink);
}
.account form,
.account .alert,
.onward {
  max-width: 24rem;
}
.onward {
  margin-top: 1.25rem;
}
.rule {
  margin: -0.75rem 0 1.125rem;
  font-size: 0.9375rem;
}
.top form {
  flex: none;
}
.account section {
  margin-top: 2rem;
  padding-top: 1.5rem;
  border-top: 1px solid var(--edge);
}
.account section p {
  margin-bottom: 1rem;
}
.account section .onward {
  margin: 0;
}
.entries {
  margin: 0;
  padding: 0;
  list-style: none;
}
.entries > li {
  padding: 1.125rem 0;
  border-top: 1px solid var(--edge);
}
.entries > li:last-child {
  padding-bottom: 0;
}
form + .entries,
.confirm + .entries {
  margin-top: 1.5rem;
}
.facts .badge {
  margin: 0 0 0 0.25rem;
  line-height: 1.3;
}
.entries h2 {
  overflow-wrap: anywhere;
}
.entries p {
  margin: 0;
}
.badge {
  display: inline-block;
  margin: 0 0.375rem 0.25rem 0;
  padding: 0 0.5rem;
  border: 1px solid var(--accent);
  border-radius: 1rem;
  color: var(--accent);
  font-size: 0.875rem;
}
.bad {
  border-color: var(--alert);
  color: var(--alert);
}
.facts {
  grid-template-columns: minmax(5.5rem, max-content) minmax(0, 1fr);
  gap: 0.125rem 0.75rem;
  margin: 0.5rem 0 0.875rem;
}
@media (min-width: 40rem) {
  .account .codes {
    grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr));
  }
}
@media (max-width: 40rem) {
  .wide {
    grid-template-columns: minmax(0, 1fr);
  }
  .wide dd {
    margin-bottom: 0.375rem;
  }
}
@media (max-width: 26rem) {
  .facts:not(.wide) {
    grid-template-columns: minmax(4.5rem, max-content) minmax(0, 1fr);
    column-gap: 0.5rem;
  }
  .long {
    grid-column: 1 / -1;
  }
  .entries .badge {
    display: table;
    margin: 0 0 0.375rem;
  }
  .entries a + .badge {
    display: inline-block;
    margin: 0;
  }
}
@media (forced-colors: active) {
  .menu a[aria-current] {
    text-decoration: underline;
  }
}
@media print {
  .top,
  .menu,
  .skip {
    display: none;
  }
}
`

/** With the colors of the operator. */
export const accountSheet = brandedSheet(ACCOUNT_STYLESHEET)
