/** The keys of what users see of the service: single sign-on (D-345) and branding (D-343). */
import { days, seconds } from '../../base/time/duration.ts'
import { duration, filePath, section } from '../values.ts'
import { label, supportLink, textColor } from './values.ts'

/** Off by default. */
export const sso = section('Single sign-on.', {
  duration: duration(
    { usual: '0s', minimum: seconds(0), maximum: days(1) },
    'How long a browser that signed in to `/account` is not asked again when an application asks. At most ' +
      '`edge.oidc.accessTokenDuration`, because the session of `/account` lasts as long. 0s is off.',
  ),
}).prefault({})

export const branding = section('Your name, logo and colors on the sign-in and account pages.', {
  name: label(
    'Your organisation. The pages show it, and authenticator apps show it as the issuer unless `edge.totp.hostname` is set.',
    'Example Corp',
  ).optional(),
  logo: filePath(
    'PNG or SVG file, at most 100 KiB and 2048 pixels wide and high. Shown at a height of 40 pixels, on a light ground in ' +
      'dark mode. Read at the start.',
    'logo.svg',
  ).optional(),
  colors: section('Colors. Text needs a contrast of at least 4.5, so others are refused.', {
    accent: textColor('light', 'Buttons and links on a light page.', '#1f56c3').optional(),
    accentDark: textColor(
      'dark',
      'The same on a dark page. Default: `accent`, lightened until the contrast is sufficient.',
      '#8fb4ff',
    ).optional(),
  }).prefault({}),
  support: supportLink(
    'Where users get help: a page or a mailbox. Linked on every page.',
    'https://help.example.com',
  ).optional(),
}).prefault({})
