import { debug, error, info, warn } from './sentence.ts';

/** The events of certificates, secrets, tokens and the xDS proxy. */
export const secretEvents = {
  /** A changed certificate is pushed to Envoy. */
  'rotation.by_push': info('a changed certificate is pushed to Envoy'),
  /** A changed certificate restarts Envoy. */
  'rotation.by_restart': info('a changed certificate restarts Envoy'),
  /** The certificate authority has issued a certificate. */
  'certificate.issued': info('certificate issued: the next one is requested in time'),
  /** A request to the certificate authority has failed. The agent tries again. */
  'certificate.request_failed': error('certificate request failed: the agent tries again'),
  /** The workload socket has given the workload its identity. */
  'identity.given': info('the workload socket has given an identity'),
  /** The workload socket has given the workload another identity than before. */
  'identity.changed': warn('the workload socket has given another identity than before'),
  /** A certificate that is served expires soon, and has not been replaced yet. */
  'certificate.expiring': warn(
    'a certificate that is served expires soon, and has not been replaced yet',
  ),
  /** A certificate that is served has expired. */
  'certificate.expired': warn('a certificate that is served has expired'),
  /** A secret has been read. */
  'secret.read': info('secret read'),
  /** A secret cannot be served. Envoy keeps the previous one, if there is one. */
  'secret.refused': {
    old: error('secret refused: Envoy keeps the previous one'),
    none: error('secret refused: there is no earlier one to serve'),
  },
  /** Secrets can be written to the output folder again. */
  'secret.written': info('secrets can be written again'),
  /** Secrets could not be written to the output folder. */
  'secret.not_written': error('secrets could not be written'),
  /** A secret has been pushed to Envoy. */
  'secret.pushed': debug('secret pushed'),
  /** Envoy has ACKed a secret. */
  'secret.accepted': info('Envoy has ACKed the secret'),
  /** Envoy has NACKed a secret, and keeps the previous one, if there is one. */
  'secret.rejected': {
    old: error('Envoy has NACKed the secret, and keeps the previous one'),
    none: error('Envoy has NACKed the secret, and has no other one'),
  },
  /** Envoy asks for a secret that does not exist. */
  'secret.missing': warn('Envoy asks for a secret that does not exist'),
  /** The secret discovery server listens. */
  'sds.listening': info('secrets are served'),
  /** The secret discovery server refuses a stream. */
  'sds.stream_refused': warn('a stream of secrets is refused'),
  /** The xDS proxy listens: Envoy takes its configuration from the agent. */
  'xds.listening': info('Envoy takes its configuration from the agent'),
  /** The control plane has answered. */
  'xds.connected': info('connected to the control plane'),
  /** The control plane is not available. Envoy keeps its configuration, or waits for one. */
  'xds.unavailable': {
    stored: warn('the control plane is not available: Envoy gets the stored configuration'),
    waits: warn('the control plane is not available: Envoy waits for its configuration: not ready'),
    goesOn: warn('the control plane is not available: Envoy keeps its configuration'),
  },
  /** The control plane is available again. */
  'xds.available': info('the control plane is available again'),
  /** Envoy has NACKed resources of the control plane, and keeps the previous ones. */
  'xds.rejected': error(
    'Envoy has NACKed resources of the control plane, and keeps the previous ones',
  ),
  /** Envoy has ACKed resources that replace those that it NACKed. */
  'xds.accepted': info('Envoy has ACKed resources that replace those that it NACKed'),
  /** An Envoy gets the stored configuration, because the control plane does not answer. */
  'xds.stored_served': warn(
    (age: string, address: string, reason: string) =>
      `serving the configuration of ${age} ago: the control plane ${address}: ${reason}`,
  ),
  /** The control plane has replaced the stored configuration. */
  'xds.stored_replaced': info('the control plane has replaced the stored configuration'),
  /** This agent cannot use the stored configuration. */
  'xds.store_ignored': warn('the stored configuration is ignored'),
  /** The configuration of the control plane can be stored again. */
  'xds.stored': info('the configuration of the control plane can be stored again'),
  /** The configuration of the control plane cannot be stored. */
  'xds.store_failed': warn('the configuration of the control plane cannot be stored'),
  /** The token server listens. */
  'sts.listening': info('tokens are exchanged'),
  /** The token server has given a token. */
  'sts.token_given': info('token given'),
  /** The token server cannot give a token. */
  'sts.token_refused': warn('no token is given'),
};
