import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import type { Message } from '@bufbuild/protobuf';
import { DestinationRuleSchema } from '../../shared/proto/istio/networking/v1alpha3/destination_rule_pb.ts';
import { GatewaySchema } from '../../shared/proto/istio/networking/v1alpha3/gateway_pb.ts';
import { ServiceEntrySchema } from '../../shared/proto/istio/networking/v1alpha3/service_entry_pb.ts';
import { SidecarSchema } from '../../shared/proto/istio/networking/v1alpha3/sidecar_pb.ts';
import { VirtualServiceSchema } from '../../shared/proto/istio/networking/v1alpha3/virtual_service_pb.ts';
import { WorkloadEntrySchema } from '../../shared/proto/istio/networking/v1alpha3/workload_entry_pb.ts';
import { WorkloadGroupSchema } from '../../shared/proto/istio/networking/v1alpha3/workload_group_pb.ts';
import { ProxyConfigSchema } from '../../shared/proto/istio/networking/v1beta1/proxy_config_pb.ts';
import { AuthorizationPolicySchema } from '../../shared/proto/istio/security/v1beta1/authorization_policy_pb.ts';
import { PeerAuthenticationSchema } from '../../shared/proto/istio/security/v1beta1/peer_authentication_pb.ts';
import { RequestAuthenticationSchema } from '../../shared/proto/istio/security/v1beta1/request_authentication_pb.ts';
import { TelemetrySchema } from '../../shared/proto/istio/telemetry/v1alpha1/telemetry_pb.ts';
import type { ConfigKind } from './config-types.ts';

/** The message that has the `spec` of each kind. */
export const specMessages: Readonly<Record<ConfigKind, GenMessage<Message>>> = {
  ServiceEntry: ServiceEntrySchema,
  WorkloadEntry: WorkloadEntrySchema,
  VirtualService: VirtualServiceSchema,
  DestinationRule: DestinationRuleSchema,
  Gateway: GatewaySchema,
  PeerAuthentication: PeerAuthenticationSchema,
  Sidecar: SidecarSchema,
  AuthorizationPolicy: AuthorizationPolicySchema,
  RequestAuthentication: RequestAuthenticationSchema,
  Telemetry: TelemetrySchema,
  ProxyConfig: ProxyConfigSchema,
  WorkloadGroup: WorkloadGroupSchema,
};
