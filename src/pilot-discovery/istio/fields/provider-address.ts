/** The address of a provider: `HOST` or `NAMESPACE/HOST` of a service, and one of its ports. */
export interface ProviderAddress {
  readonly service: string;
  readonly port: number;
}
