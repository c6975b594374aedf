import type { Pod, PodStatus } from "../../../../api/gen/types.ts";

/**
 * Statuses that a Go kubelet 1.28 over containerd 1.6 published, with the part of each pod that they follow from.
 * Absent times (`null` on the wire) are left out, ids are shortened and images have other names.
 */
interface GoldenStatus {
  pod: Pod;
  status: PodStatus;
}

// biome-ignore format: a table, recorded and not written
export const GOLDEN_STATUSES: readonly GoldenStatus[] = [
  {
    pod: {
      metadata: { name: "init-containers", namespace: "golden", uid: "2d871b92-38eb-4390-92ea-896227c89f65" },
      spec: {
        restartPolicy: "Always",
        initContainers: [
          { name: "first", image: "example.com/busybox:1" },
          { name: "second", image: "example.com/busybox:1" },
        ],
        containers: [{ name: "main", image: "example.com/busybox:1" }],
      },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:35Z", status: "True", type: "Initialized" },
        { lastTransitionTime: "2026-11-21T01:26:36Z", status: "True", type: "Ready" },
        { lastTransitionTime: "2026-11-21T01:26:36Z", status: "True", type: "ContainersReady" },
        { lastTransitionTime: "2026-11-21T01:26:33Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://ab7c3609a6c6",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "main",
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: "2026-11-21T01:26:35Z" } },
        },
      ],
      hostIP: "192.0.2.2",
      initContainerStatuses: [
        {
          containerID: "containerd://03d5de0c4600",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "first",
          ready: true,
          restartCount: 0,
          started: false,
          state: {
            terminated: {
              containerID: "containerd://03d5de0c4600",
              exitCode: 0,
              finishedAt: "2026-11-21T01:26:33Z",
              reason: "Completed",
              startedAt: "2026-11-21T01:26:33Z",
            },
          },
        },
        {
          containerID: "containerd://7a587cc74c29",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "second",
          ready: true,
          restartCount: 0,
          started: false,
          state: {
            terminated: {
              containerID: "containerd://7a587cc74c29",
              exitCode: 0,
              finishedAt: "2026-11-21T01:26:34Z",
              reason: "Completed",
              startedAt: "2026-11-21T01:26:34Z",
            },
          },
        },
      ],
      phase: "Running",
      podIP: "10.88.3.126",
      podIPs: [{ ip: "10.88.3.126" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:33Z",
    },
  },
  {
    pod: {
      metadata: { name: "on-failure", namespace: "golden", uid: "e456557d-c90e-486b-a426-35778d06abc5" },
      spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "example.com/busybox:1" }] },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:36Z", status: "True", type: "Initialized" },
        {
          lastTransitionTime: "2026-11-21T01:26:36Z",
          message: "containers with unready status: [main]",
          reason: "ContainersNotReady",
          status: "False",
          type: "Ready",
        },
        {
          lastTransitionTime: "2026-11-21T01:26:36Z",
          message: "containers with unready status: [main]",
          reason: "ContainersNotReady",
          status: "False",
          type: "ContainersReady",
        },
        { lastTransitionTime: "2026-11-21T01:26:36Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://1253634bc5c3",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {
            terminated: {
              containerID: "containerd://77864e1e0d60",
              exitCode: 1,
              finishedAt: "2026-11-21T01:26:52Z",
              reason: "Error",
              startedAt: "2026-11-21T01:26:52Z",
            },
          },
          name: "main",
          ready: false,
          restartCount: 3,
          started: false,
          state: {
            terminated: {
              containerID: "containerd://1253634bc5c3",
              exitCode: 1,
              finishedAt: "2026-11-21T01:27:21Z",
              reason: "Error",
              startedAt: "2026-11-21T01:27:21Z",
            },
          },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Running",
      podIP: "10.88.3.131",
      podIPs: [{ ip: "10.88.3.131" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:36Z",
    },
  },
  {
    pod: {
      metadata: { name: "never-succeeds-then-done", namespace: "golden", uid: "04416206-38eb-42b5-9158-dc502aa59e4e" },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.com/busybox:1" }] },
    },
    status: {
      conditions: [
        {
          lastTransitionTime: "2026-11-21T01:26:36Z",
          reason: "PodCompleted",
          status: "True",
          type: "Initialized",
        },
        { lastTransitionTime: "2026-11-21T01:26:36Z", reason: "PodCompleted", status: "False", type: "Ready" },
        {
          lastTransitionTime: "2026-11-21T01:26:36Z",
          reason: "PodCompleted",
          status: "False",
          type: "ContainersReady",
        },
        { lastTransitionTime: "2026-11-21T01:26:36Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://a307ec4b7bb6",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "main",
          ready: false,
          restartCount: 0,
          started: false,
          state: {
            terminated: {
              containerID: "containerd://a307ec4b7bb6",
              exitCode: 0,
              finishedAt: "2026-11-21T01:26:36Z",
              reason: "Completed",
              startedAt: "2026-11-21T01:26:36Z",
            },
          },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Succeeded",
      podIP: "10.88.3.132",
      podIPs: [{ ip: "10.88.3.132" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:36Z",
    },
  },
  {
    pod: {
      metadata: {
                  name: "termination-message",
                  namespace: "golden",
                  uid: "dff72bbb-38b3-4ef0-9f7d-e407bc684aba",
                },
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.com/busybox:1" }] },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:35Z", status: "True", type: "Initialized" },
        { lastTransitionTime: "2026-11-21T01:26:35Z", reason: "PodFailed", status: "False", type: "Ready" },
        {
          lastTransitionTime: "2026-11-21T01:26:35Z",
          reason: "PodFailed",
          status: "False",
          type: "ContainersReady",
        },
        { lastTransitionTime: "2026-11-21T01:26:35Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://76c79bb0c5f2",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "main",
          ready: false,
          restartCount: 0,
          started: false,
          state: {
            terminated: {
              containerID: "containerd://76c79bb0c5f2",
              exitCode: 3,
              finishedAt: "2026-11-21T01:26:35Z",
              message: "last words\n",
              reason: "Error",
              startedAt: "2026-11-21T01:26:35Z",
            },
          },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Failed",
      podIP: "10.88.3.130",
      podIPs: [{ ip: "10.88.3.130" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:35Z",
    },
  },
  {
    pod: {
      metadata: { name: "host-namespaces", namespace: "golden", uid: "2e0bca5b-49da-41f6-8059-b3c7836b4b54" },
      spec: {
        restartPolicy: "Always",
        hostNetwork: true,
        containers: [{ name: "main", image: "example.com/busybox:1" }],
      },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:28Z", status: "True", type: "Initialized" },
        { lastTransitionTime: "2026-11-21T01:26:29Z", status: "True", type: "Ready" },
        { lastTransitionTime: "2026-11-21T01:26:29Z", status: "True", type: "ContainersReady" },
        { lastTransitionTime: "2026-11-21T01:26:28Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://16f17de5f024",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "main",
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: "2026-11-21T01:26:28Z" } },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Running",
      podIP: "192.0.2.2",
      podIPs: [{ ip: "192.0.2.2" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:28Z",
    },
  },
  {
    pod: {
      metadata: { name: "pull-with-secret", namespace: "golden", uid: "df4510c8-7e37-4b01-b4e0-6030d836a1f6" },
      spec: { restartPolicy: "Always", containers: [{ name: "main", image: "example.com/private/app:1" }] },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:38Z", status: "True", type: "Initialized" },
        {
          lastTransitionTime: "2026-11-21T01:26:38Z",
          message: "containers with unready status: [main]",
          reason: "ContainersNotReady",
          status: "False",
          type: "Ready",
        },
        {
          lastTransitionTime: "2026-11-21T01:26:38Z",
          message: "containers with unready status: [main]",
          reason: "ContainersNotReady",
          status: "False",
          type: "ContainersReady",
        },
        { lastTransitionTime: "2026-11-21T01:26:38Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          image: "example.com/private/app:1",
          imageID: "",
          lastState: {},
          name: "main",
          ready: false,
          restartCount: 0,
          started: false,
          state: {
            waiting: {
                       message: "Back-off pulling image \"example.com/private/app:1\"",
                       reason: "ImagePullBackOff",
                     },
          },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Pending",
      podIP: "10.88.3.135",
      podIPs: [{ ip: "10.88.3.135" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:38Z",
    },
  },
  {
    pod: {
      metadata: { name: "qos-guaranteed", namespace: "golden", uid: "8555af88-ef68-4373-8549-1ded06d2d992" },
      spec: {
        restartPolicy: "Always",
        containers: [
          {
            name: "main",
            image: "example.com/busybox:1",
            resources: { limits: { cpu: "500m", memory: "64Mi" }, requests: { cpu: "500m", memory: "64Mi" } },
          },
        ],
      },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:24Z", status: "True", type: "Initialized" },
        { lastTransitionTime: "2026-11-21T01:26:24Z", status: "True", type: "Ready" },
        { lastTransitionTime: "2026-11-21T01:26:24Z", status: "True", type: "ContainersReady" },
        { lastTransitionTime: "2026-11-21T01:26:24Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://6c743b17aedb",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "main",
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: "2026-11-21T01:26:24Z" } },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Running",
      podIP: "10.88.3.111",
      podIPs: [{ ip: "10.88.3.111" }],
      qosClass: "Guaranteed",
      startTime: "2026-11-21T01:26:24Z",
    },
  },
  {
    pod: {
      metadata: { name: "shared-processes", namespace: "golden", uid: "a5f62da5-bfa8-420b-bf75-c4a54c328b78" },
      spec: {
        restartPolicy: "Always",
        containers: [
                      { name: "a", image: "example.com/busybox:1" },
                      { name: "b", image: "example.com/busybox:1" },
                    ],
      },
    },
    status: {
      conditions: [
        { lastTransitionTime: "2026-11-21T01:26:28Z", status: "True", type: "Initialized" },
        { lastTransitionTime: "2026-11-21T01:26:30Z", status: "True", type: "Ready" },
        { lastTransitionTime: "2026-11-21T01:26:30Z", status: "True", type: "ContainersReady" },
        { lastTransitionTime: "2026-11-21T01:26:28Z", status: "True", type: "PodScheduled" },
      ],
      containerStatuses: [
        {
          containerID: "containerd://12c7be3dcf6e",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "a",
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: "2026-11-21T01:26:29Z" } },
        },
        {
          containerID: "containerd://8fce7d30c340",
          image: "example.com/busybox:1",
          imageID: "sha256:50a032783e69",
          lastState: {},
          name: "b",
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: "2026-11-21T01:26:29Z" } },
        },
      ],
      hostIP: "192.0.2.2",
      phase: "Running",
      podIP: "10.88.3.118",
      podIPs: [{ ip: "10.88.3.118" }],
      qosClass: "BestEffort",
      startTime: "2026-11-21T01:26:28Z",
    },
  },
];
