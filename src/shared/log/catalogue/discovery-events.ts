import { error, fatal, info, warn } from './sentence.ts';

/** The events of the control plane. */
export const discoveryEvents = {
  /** The control plane starts. */
  'discovery.started': info('the control plane starts'),
  /** The control plane has read all sources, and answers proxies. */
  'discovery.ready': info('the control plane has read all sources, and answers proxies'),
  /** The control plane ends with a failure. The line has the exit code and the reason. */
  'discovery.failed': fatal('the control plane ends with a failure'),
  /** The control plane sends its proxies elsewhere, and then ends. */
  'discovery.draining': info('the control plane sends its proxies elsewhere, and then ends'),
  /** The control plane ends. */
  'discovery.ended': info('the control plane ends'),
  /** A flag or a variable of the control plane has no effect. */
  'discovery.flag_ignored': warn('a flag or a variable has no effect'),
  /** A source has lost many resources at once. The removals are held back. */
  'discovery.removals_held': error(
    'a source has lost many resources at once: the removals are held back until they are confirmed or their time is over',
  ),
  /** No removals are held back any longer. */
  'discovery.removals_over': info('no removals are held back any longer'),
  /** Other machines can reach xDS without TLS. */
  'discovery.open': warn('other machines can reach xDS without TLS'),
  /** A core dump of the control plane has its memory, and so its keys. */
  'discovery.memory_dumped': warn('a core dump of the control plane has its keys'),
  /** A source of the control plane cannot be read. Its last content stays. */
  'discovery.source_lost': warn('a source cannot be read: its last content stays'),
  /** A source of the control plane can be read again. */
  'discovery.source_back': info('a source can be read again'),
  /** A resource is refused. Its last good version stays. Other resources are not affected. */
  'discovery.refused': error('a resource is refused: its last good version stays, if it has one'),
  /** Documents that are not Istio rules are skipped. The line counts them by kind. */
  'discovery.passed_over': info('documents that are not Istio rules are skipped'),
  /** A part of a resource is not served yet. The rest of it is. */
  'discovery.unserved': warn('a part of a resource is not served'),
  /** A resource that was refused is valid again. */
  'discovery.mended': info('a resource that was refused is valid again'),
  /** Changed resources are sent to the proxies. */
  'discovery.pushed': info('changed resources are sent to the proxies'),
  /** A proxy has connected. */
  'discovery.connected': info('a proxy has connected'),
  /** A proxy has disconnected. */
  'discovery.disconnected': info('a proxy has disconnected'),
  /** A proxy has NACKed resources, and keeps the previous ones. */
  'discovery.rejected': error('a proxy has NACKed resources, and keeps the previous ones'),
  /** The control plane has refused a stream. */
  'discovery.stream_refused': warn('a stream is refused'),
  /** The secure port has a new certificate. The line has the serial and the expiry. */
  'discovery.serving': info('the secure port has a new certificate'),
  /** The secure port gets no new certificate: the previous one stays, if there is one. */
  'discovery.unserved_tls': warn(
    'the secure port gets no new certificate: it keeps the previous one, or is closed if it has none',
  ),
  /** A caller is refused. `more`: earlier refusals of this IP that have no line. */
  'discovery.caller_refused': warn('a caller is refused'),
  /** A proxy does not get the secrets that it names. `more`: earlier refusals. */
  'discovery.secrets_refused': warn('a proxy does not get the secrets that it names'),
  /** The account of proxies may not read Secrets, or the API does not say. */
  'discovery.secrets_denied': warn('an account gets no secrets: its proxies keep what they have'),
  /** The account of proxies may read Secrets now. */
  'discovery.secrets_allowed': info('an account gets secrets again'),
  /** A Secret that proxies name was read, for the first time or after a change. */
  'discovery.secret_read': info('a secret was read'),
  /** A Secret that proxies name cannot be served: the line has the reason. */
  'discovery.secret_refused': warn('a secret cannot be served: proxies keep what they have'),
  /** A Secret that proxies have is gone. */
  'discovery.secret_gone': warn('a secret is gone: proxies keep what they have'),
  /** A proxy does not read its answers, and its stream is ended. */
  'discovery.reads_nothing': warn('a proxy does not read its answers, and its stream is ended'),
  /** The certificate authority signs with the key of this certificate (`hash`). */
  'discovery.authority_ready': info('the certificate authority signs with this key'),
  /** The key of the authority is refused. The previous one stays in use. */
  'discovery.authority_refused': error(
    'the key of the certificate authority cannot be used: the previous one stays in use, if there is one',
  ),
  /** The root of the mesh was replaced, and none of the earlier roots is left. */
  'discovery.root_replaced': warn(
    'the root of the mesh was replaced: old and new certificates do not trust each other',
  ),
  /** This instance (`holder`) writes the status of Istio's resources into the API. */
  'discovery.status_writer': info('this instance writes the status of resources'),
  /** This instance no longer writes the status of resources. Another one may. */
  'discovery.status_writer_over': info('this instance no longer writes the status of resources'),
  /** The Lease of the writer, or a status, cannot be written. A retry follows. */
  'discovery.status_refused': warn('the status of resources cannot be written'),
  /** Another program changes a status again and again: it is left alone. */
  'discovery.status_contested': warn('another program writes the status of a resource too'),
  /** Each namespace has the roots (`hash`) in its ConfigMap `istio-ca-root-cert`. */
  'discovery.roots_published': info('each namespace has the roots of the mesh'),
  /** The ConfigMaps with the roots cannot be read or written. A retry follows. */
  'discovery.roots_unpublished': warn(
    'the roots of the mesh cannot be written into the ConfigMaps of namespaces',
  ),
  /** Another program publishes other roots: it replaces those of this control plane. */
  'discovery.roots_contested': warn(
    'another program replaces the roots in ConfigMaps again and again: they are written again every 5 minutes',
  ),
  /** Certificates are revoked by these CRLs, until they expire. */
  'discovery.crl_ready': info('these CRLs are in use'),
  /** The newest CRLs cannot be used: the line has the reason. */
  'discovery.crl_refused': {
    old: error('the newest CRLs cannot be used: the previous ones stay'),
    none: error('the CRLs cannot be used: no certificate counts as revoked'),
  },
  /** The CRLs are gone: no certificate is revoked any longer. */
  'discovery.crl_gone': warn('there is no CRL any longer: no certificate counts as revoked'),
  /** Each namespace has the CRLs in its ConfigMap `istio-ca-crl`. */
  'discovery.crl_published': info('each namespace has the CRLs of the mesh'),
  /** The ConfigMaps with the CRLs cannot be read or written. A retry follows. */
  'discovery.crl_unpublished': warn(
    'the CRLs of the mesh cannot be written into the ConfigMaps of namespaces',
  ),
  /** Another program publishes other CRLs: it replaces those of this control plane. */
  'discovery.crl_contested': warn(
    'another program replaces the CRLs in ConfigMaps again and again: they are written again every 5 minutes',
  ),
  /** A certificate was issued. The line has its serial, its name and its expiry. */
  'discovery.certificate_issued': info('a certificate was issued'),
  /** No certificate was issued, `requests` times for this identity. */
  'discovery.certificate_refused': warn('no certificate was issued'),
};
