import type { TypeDescriptions } from "../type-description.ts";

export const NETWORK_TYPES: TypeDescriptions = {
  Endpoint: {
    is: "A pod, or something like it, behind a service.",
    fields: {
      addresses: "Its addresses; only the first is used.",
      conditions: "Whether it takes traffic.",
      deprecatedTopology: "No longer used.",
      hints: "For which zones and nodes it is meant.",
      hostname: "The host name that stands for it in DNS.",
      nodeName: "The node that it is on.",
      targetRef: "The object that it is, a pod for instance.",
      zone: "The zone that it is in.",
    },
  },
  EndpointConditions: {
    is: "Whether an endpoint takes traffic.",
    fields: {
      ready: "Whether it should get traffic: it is serving and not terminating. Not set means true.",
      serving: "Whether it answers, even while it is being deleted. Not set means true.",
      terminating: "Whether it is being deleted. Not set means false.",
    },
  },
  EndpointHints: {
    is: "For which clients an endpoint is meant, so that traffic stays near.",
    fields: {
      forNodes: "The nodes whose clients should use it, at most 8.",
      forZones: "The zones whose clients should use it, at most 8.",
    },
  },
  DiscoveryEndpointPort: {
    is: "A port of the endpoints in a slice.",
    fields: {
      appProtocol:
        "The protocol spoken above TCP or UDP, as a hint: a registered name such as `https`, or `kubernetes.io/h2c`.",
      name: "The name of the port, the same as in the service; unique in the slice.",
      port: "The number of the port.",
      protocol: "TCP (the default), UDP or SCTP.",
    },
  },
  EndpointSlice: {
    is: "A part of the addresses behind a service.",
    fields: {
      addressType: "What the addresses are: IPv4, IPv6, or FQDN, which is deprecated. Cannot be changed.",
      endpoints: "The endpoints, at most 1000.",
      ports: "The ports that each of the endpoints has, at most 100.",
    },
  },
  ForNode: { is: "A node whose clients should use an endpoint.", fields: { name: "The name of the node." } },
  ForZone: { is: "A zone whose clients should use an endpoint.", fields: { name: "The name of the zone." } },
  HTTPIngressPath: {
    is: "Which requests go to which service, by their path.",
    fields: {
      backend: "Where the requests go.",
      path: "The path to compare with that of the request; it starts with `/`.",
      pathType: "How paths are compared: Exact, Prefix (element by element between slashes), ImplementationSpecific.",
    },
  },
  HTTPIngressRuleValue: {
    is: "Where the requests to a host go.",
    fields: { paths: "Where requests go, by their path." },
  },
  Ingress: { is: "Routes HTTP from outside to services.", fields: {} },
  IngressBackend: {
    is: "Where requests go: to a service or to another object.",
    fields: {
      resource: "An object in the ingress's namespace, in place of `service`.",
      service: "A service in the ingress's namespace.",
    },
  },
  IngressClass: { is: "Which controller handles ingresses of a class.", fields: {} },
  IngressClassParametersReference: {
    is: "Names an object with settings for an ingress controller.",
    fields: {
      apiGroup: "The object's API group; empty for the core group.",
      kind: "The object's kind.",
      name: "The object's name.",
      namespace: "The object's namespace; only with the scope Namespace.",
      scope: "Cluster (the default) or Namespace.",
    },
  },
  IngressClassSpec: {
    is: "Which controller handles a class, and its settings.",
    fields: {
      controller: "The controller, `example.com/ingress-controller`. Cannot be changed.",
      parameters: "An object with settings for the controller.",
    },
  },
  IngressLoadBalancerIngress: {
    is: "An address at which an ingress takes requests.",
    fields: {
      hostname: "The host name, of load balancers that have one.",
      ip: "The IP address, of load balancers that have one.",
      ports: "The state of the ports.",
    },
  },
  IngressLoadBalancerStatus: {
    is: "What was last seen of an ingress's load balancer.",
    fields: { ingress: "The addresses at which the load balancer takes requests." },
  },
  IngressPortStatus: {
    is: "The state of a port of an ingress.",
    fields: {
      error: "What is wrong with the port, in one CamelCase word.",
      port: "The number of the port.",
      protocol: "TCP, UDP or SCTP.",
    },
  },
  IngressRule: {
    is: "Where the requests to a host go.",
    fields: {
      host: "The host name of the requests, `www.example.com` or `*.example.com`; default: any.",
      http: "Where requests go, by their path.",
    },
  },
  IngressServiceBackend: {
    is: "A port of a service that requests go to.",
    fields: { name: "The name of the service.", port: "The port of the service, by name or by number." },
  },
  IngressSpec: {
    is: "Which requests go to which services.",
    fields: {
      defaultBackend: "Where requests go that no rule matches.",
      ingressClassName: "The name of the ingress class, which says what controller handles the ingress.",
      rules: "Where requests go, by their host and path.",
      tls: "The certificates for HTTPS.",
    },
  },
  IngressStatus: {
    is: "What was last seen of an ingress.",
    fields: { loadBalancer: "What is known of the load balancer." },
  },
  IngressTLS: {
    is: "The certificate for some hosts.",
    fields: {
      hosts: "The host names that the certificate is for.",
      secretName: "The secret with the certificate and its key.",
    },
  },
  IPAddress: { is: "An IP address that is taken, by a service for instance; its name is the address.", fields: {} },
  IPAddressSpec: {
    is: "Who has an address.",
    fields: { parentRef: "The object that has the address. Cannot be changed." },
  },
  IPBlock: {
    is: "A range of addresses.",
    fields: { cidr: "The range, `192.168.1.0/24`.", except: "Parts of the range that are left out, as CIDRs." },
  },
  NetworkPolicy: { is: "Which network traffic pods may have.", fields: {} },
  NetworkPolicyEgressRule: {
    is: "Traffic that the pods may send; it must match both `ports` and `to`.",
    fields: {
      ports: "The ports that it may go to, one of which must match; all when empty.",
      to: "Where it may go, one of which must match; everywhere when empty.",
    },
  },
  NetworkPolicyIngressRule: {
    is: "Traffic that the pods may get; it must match both `ports` and `from`.",
    fields: {
      from: "Where it may come from, one of which must match; everywhere when empty.",
      ports: "The pods' ports that it may go to, one of which must match; all when empty.",
    },
  },
  NetworkPolicyPeer: {
    is: "Where traffic comes from or goes to: pods, or a range of addresses.",
    fields: {
      ipBlock: "A range of addresses, in place of the selectors.",
      namespaceSelector:
        "The labels of the pods' namespaces; an empty selector means all namespaces. Default: the policy's own.",
      podSelector:
        "The labels of the pods; an empty selector means all pods. Beside a `namespaceSelector` it can be left out, and means all too.",
    },
  },
  NetworkPolicyPort: {
    is: "A port, or a range of ports.",
    fields: {
      endPort: "The last port of a range that starts at `port`.",
      port: "The port, by number or by its name in the pods; default: all.",
      protocol: "TCP (the default), UDP or SCTP.",
    },
  },
  NetworkPolicySpec: {
    is: "Which traffic pods may send and get. Once a policy is about a pod, only what some policy allows gets through.",
    fields: {
      egress: "What the pods may send; when empty, nothing, if `policyTypes` has Egress.",
      ingress: "What the pods may get; when empty, nothing, if `policyTypes` has Ingress.",
      podSelector: "The labels of the pods that the policy is about; an empty selector means all of the namespace.",
      policyTypes:
        "The directions that the policy is about: Ingress, Egress. Default: Ingress, and Egress if there are `egress` rules.",
    },
  },
  ParentReference: {
    is: "Names the object that has an address.",
    fields: {
      group: "The object's API group; empty for the core group.",
      name: "The object's name.",
      namespace: "The object's namespace.",
      resource: "The object's resource, `services`.",
    },
  },
  ServiceBackendPort: {
    is: "A port of a service: by name or by number.",
    fields: { name: "The name of the port.", number: "The number of the port." },
  },
  ServiceCIDR: { is: "Ranges that services get their addresses from.", fields: {} },
  ServiceCIDRSpec: {
    is: "Which addresses services can get.",
    fields: { cidrs: "The ranges, `10.96.0.0/16`, at most one for each of IPv4 and IPv6." },
  },
  ServiceCIDRStatus: {
    is: "What was last seen of a range of services' addresses.",
    fields: { conditions: "Whether addresses are given out from it: Ready." },
  },
};
