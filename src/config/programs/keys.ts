/** The part of the file about what the service sends to other programs, and about its log. D-46, D-139, D-378. */
import { LOG_FORMATS, LOG_LEVELS } from '../config.ts'
import { headerFields, httpUrl, oneOf, ratio, section, webhookSecret } from '../values.ts'

/** The same in `controller.yml` and `gateway.yml`. */
export const log = section('The log.', {
  level: oneOf(LOG_LEVELS, 'The lowest level that is logged.').prefault('info'),
  // D-338.
  format: oneOf(
    LOG_FORMATS,
    '`json` for machines, `text` for people. `auto`: text if standard error is a terminal, JSON elsewhere.',
  ).prefault('auto'),
}).prefault({})

export const notifications = section('Calls to your own webhook.', {
  webhook: section(
    'A receiver that hands over the links of invitations and resets, by mail for example. Default: none.',
    {
      url: httpUrl(
        'The whole URL. It must be https, or on this machine.',
        'https://hooks.example.com/latchkey',
      ),
      secret: webhookSecret(
        'The key that signs each call: `whsec_` and at least 24 bytes in base64, such as the output of `echo whsec_$(openssl rand -base64 32)`.',
      ),
    },
  ).optional(),
}).prefault({})

export const telemetry = section('Data for other programs.', {
  traces: section('Spans for a collector that takes OTLP over HTTP, as JSON. Default: none.', {
    endpoint: httpUrl(
      'The whole URL. With `headers` it must be https, or on this machine.',
      'https://collector.example.com:4318/v1/traces',
    ),
    headers: headerFields('Header fields to send, for example a credential.', {
      authorization: 'Bearer TOKEN',
    }).optional(),
    sampleRatio: ratio(
      'The fraction of requests to trace. Default: 1, all of them.',
      0.1,
    ).optional(),
  }).optional(),
}).prefault({})
