import { CONTAINER, CORE, type HostileBody, list, MANY, NAMED } from "./hostile-body.ts";

const pod = (name: string, spec: () => object): HostileBody => ({
  name: `pod: ${name}`,
  path: `${CORE}/pods`,
  body: () => JSON.stringify({ metadata: NAMED, spec: { containers: [CONTAINER], ...spec() } }),
});
const container = (name: string, fields: () => object): HostileBody =>
  pod(name, () => ({ containers: [{ ...CONTAINER, ...fields() }] }));
const term = (i: number) => ({ key: `k${i}`, operator: "In", values: ["a"] });

const podsOf = (count: number): readonly HostileBody[] => [
  pod("volumes", () => ({ volumes: list(count, (i) => ({ name: `v${i}`, emptyDir: {} })) })),
  pod("volumes of one name", () => ({ volumes: list(count, () => ({ name: "v", emptyDir: {} })) })),
  pod("volumes without a source", () => ({ volumes: list(count, (i) => ({ name: `v${i}` })) })),
  pod("volumes of secrets", () => ({
    volumes: list(count, (i) => ({ name: `v${i}`, secret: { secretName: `s${i}` } })),
  })),
  pod("volumes of claims", () => ({
    volumes: list(count, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `s${i}` } })),
  })),
  pod("volumes and their mounts", () => ({
    volumes: list(count / 2, (i) => ({ name: `v${i}`, emptyDir: {} })),
    containers: [{ ...CONTAINER, volumeMounts: list(count / 2, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }],
  })),
  pod("volumes and mounts of what is not there", () => ({
    volumes: list(count / 2, (i) => ({ name: `v${i}`, emptyDir: {} })),
    containers: [{ ...CONTAINER, volumeMounts: list(count / 2, (i) => ({ name: `w${i}`, mountPath: "/m" })) }],
  })),
  pod("items of a volume", () => ({
    volumes: [{ name: "v", secret: { secretName: "s", items: list(count, (i) => ({ key: `k${i}`, path: `p${i}` })) } }],
  })),
  pod("sources of a projected volume", () => ({
    volumes: [
      {
        name: "v",
        projected: {
          sources: list(count, (i) => ({ secret: { name: `s${i}`, items: [{ key: "k", path: `p${i}` }] } })),
        },
      },
    ],
  })),
  pod("containers", () => ({ containers: list(count, (i) => ({ name: `c${i}`, image: "i" })) })),
  pod("containers of one name", () => ({ containers: list(count, () => CONTAINER) })),
  pod("containers without a name", () => ({ containers: list(count, () => ({})) })),
  pod("init containers", () => ({ initContainers: list(count, (i) => ({ name: `c${i}`, image: "i" })) })),
  pod("init containers that restart", () => ({
    initContainers: list(count, (i) => ({
      name: `c${i}`,
      image: "i",
      restartPolicy: "Always",
      resources: { requests: { cpu: "1m" } },
    })),
  })),
  pod("containers with ports", () => ({
    containers: list(count / 2, (i) => ({
      name: `c${i}`,
      image: "i",
      ports: [{ containerPort: 80, hostPort: 1 + i }],
    })),
  })),
  pod("containers with devices and mounts", () => ({
    volumes: list(count / 6, (i) => ({ name: `v${i}`, emptyDir: {} })),
    containers: list(count / 6, (i) => ({
      name: `c${i}`,
      image: "i",
      volumeMounts: [{ name: `v${i}`, mountPath: "/m" }],
      resources: { limits: { [`example.com/d${i}`]: "1" } },
    })),
  })),
  container("variables", () => ({ env: list(count * 2, (i) => ({ name: `E${i}`, value: "v" })) })),
  container("variables of one name", () => ({ env: list(count * 2, () => ({ name: "E", value: "v" })) })),
  container("variables of secrets", () => ({
    env: list(count, (i) => ({ name: `E${i}`, valueFrom: { secretKeyRef: { name: `s${i}`, key: "k" } } })),
  })),
  container("sources of variables", () => ({ envFrom: list(count, (i) => ({ secretRef: { name: `s${i}` } })) })),
  container("ports", () => ({ ports: list(count, (i) => ({ name: `p${i}`, containerPort: i + 1 })) })),
  container("ports of one name", () => ({ ports: list(count, () => ({ name: "p", containerPort: 1, hostPort: 1 })) })),
  container("mounts of one path", () => ({ volumeMounts: list(count, () => ({ name: "v", mountPath: "/m" })) })),
  container("devices", () => ({ volumeDevices: list(count, (i) => ({ name: `v${i}`, devicePath: `/d${i}` })) })),
  container("arguments", () => ({
    args: list(count * 15, () => ({})).map(() => "a"),
    command: list(count * 5, () => ({})).map(() => "$(A)"),
  })),
  container("resources", () => ({
    resources: { limits: Object.fromEntries(list(count * 1.5, () => ({})).map((_, i) => [`example.com/r${i}`, "1"])) },
  })),
  container("claims", () => ({ resources: { claims: list(count, (i) => ({ name: `r${i}` })) } })),
  container("capabilities", () => ({
    securityContext: { capabilities: { add: list(count * 10, () => ({})).map((_, i) => `C${i}`) } },
  })),
  container("headers of a probe", () => ({
    livenessProbe: { httpGet: { port: 80, httpHeaders: list(count, (i) => ({ name: `h${i}`, value: "v" })) } },
  })),
  pod("resource claims", () => ({
    resourceClaims: list(count, (i) => ({ name: `r${i}`, resourceClaimName: `r${i}` })),
  })),
  pod("tolerations", () => ({ tolerations: list(count, (i) => ({ key: `k${i}`, operator: "Exists" })) })),
  pod("host aliases", () => ({ hostAliases: list(count, (i) => ({ ip: "10.0.0.1", hostnames: [`h${i}`] })) })),
  pod("pull secrets", () => ({ imagePullSecrets: list(count, (i) => ({ name: `s${i}` })) })),
  pod("gates", () => ({
    schedulingGates: list(count, (i) => ({ name: `example.com/g${i}` })),
    readinessGates: list(count, (i) => ({ conditionType: `example.com/g${i}` })),
  })),
  pod("node selectors", () => ({
    nodeSelector: Object.fromEntries(list(count, () => ({})).map((_, i) => [`k${i}`, "v"])),
  })),
  pod("spread constraints", () => ({
    topologySpreadConstraints: list(count / 2, (i) => ({
      maxSkew: 1,
      topologyKey: `k${i}`,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: {},
    })),
  })),
  pod("terms of node affinity", () => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: list(count, (i) => ({ matchExpressions: [term(i)] })),
        },
      },
    },
  })),
  pod("terms of pod affinity", () => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: list(count / 2, (i) => ({
          topologyKey: "k",
          labelSelector: { matchExpressions: [term(i)] },
        })),
      },
    },
  })),
  pod("values of a term", () => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: "k", operator: "In", values: list(count * 10, () => ({})).map((_, i) => `v${i}`) },
              ],
            },
          ],
        },
      },
    },
  })),
  pod("sysctls", () => ({ securityContext: { sysctls: list(count, (i) => ({ name: `net.a${i}`, value: "1" })) } })),
  pod("groups", () => ({ securityContext: { supplementalGroups: list(count * 15, () => ({})).map((_, i) => i) } })),
  pod("name servers", () => ({
    dnsConfig: {
      nameservers: list(count, () => ({})).map(() => "10.0.0.1"),
      searches: list(count, () => ({})).map((_, i) => `a${i}.b`),
      options: list(count, (i) => ({ name: `o${i}` })),
    },
  })),
];

/** More than any pod may have, and about as much as a pod may have. */
export const POD_BODIES: readonly HostileBody[] = [
  ...podsOf(MANY).map((body) => ({ ...body, name: `${body.name}, too many` })),
  ...podsOf(2_400),
];
