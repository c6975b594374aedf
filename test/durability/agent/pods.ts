import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";

export const POD_COUNT = 10;

const SERVER = "mkdir -p /www && touch /www/ok && httpd -p 8080 -h /www && trap 'exit 0' TERM; sleep 100000 & wait";
/** Exec probes are the dearest: each starts a process through the runtime. */
const PROBES = [
  { httpGet: { path: "/ok", port: 8080 }, periodSeconds: 1 },
  { tcpSocket: { port: 8080 }, periodSeconds: 1 },
  { exec: { command: ["cat", "/www/ok"] }, periodSeconds: 5, timeoutSeconds: 20 },
];

/** A pod of the node whose probes of all three kinds succeed; upstream's thresholds. */
export function probedPod(index: number, nodeName: string): object {
  const handler = PROBES[index % PROBES.length];
  const probe = { timeoutSeconds: 10, failureThreshold: 3, ...handler };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `probed-${index}` },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "main",
          image: DEMO_IMAGE,
          command: ["sh", "-c", SERVER],
          startupProbe: { ...probe, failureThreshold: 60 },
          readinessProbe: probe,
          livenessProbe: probe,
        },
      ],
    },
  };
}
