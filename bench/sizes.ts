/** How much is measured. */
export interface Sizes {
  /** How often each build has its turn where two are compared. */
  rounds: number;
  /** Pods that are started and stopped one at a time, on either side. */
  singlePods: number;
  burstPods: number;
  burstRounds: number;
  /** Pods whose containers end one after another, and how many containers each has. */
  exitPods: number;
  exitContainers: number;
  crashingPods: number;
  idlePods: number;
  idleSeconds: number;
  agentStarts: number;
  /** Pods of a cluster that are started and stopped one at a time. */
  clusterSinglePods: number;
  /** Starts of a node agent as a node of a cluster. */
  clusterStarts: number;
  /** Pods that are created at once, and how often. */
  clusterBursts: ReadonlyArray<{ pods: number; rounds: number }>;
  clusterIdlePods: number;
  clusterIdleSeconds: number;
  /** Pods with volumes, and as many without, started one at a time. */
  volumePairs: number;
  /** The same at once. */
  volumeBurstPods: number;
  /** Config maps that are mounted, and by how many pods. */
  volumeConfigMaps: number;
  volumeConfigMapPods: number;
  /** Starts of the control plane on nothing, and as many on what the one before left. */
  apiStarts: number;
  /** Pods created one at a time. */
  apiCreates: number;
  /** Pods created by several clients at a time. */
  apiParallelCreates: number;
  apiWatchers: number;
  apiWatchSeconds: number;
  /** Pods that are listed, and whose memory is measured. */
  apiPods: number;
  apiLists: number;
  apiSettleSeconds: number;
  /** Pods that one client lists all the time, and calls that another makes meanwhile. */
  fairPods: number;
  fairReads: number;
  /** Pods that run when the node agent is killed, and how often it is. */
  restartPods: number;
  restarts: number;
  /** Pods whose starts are traced. */
  tracedPods: number;
  /** Numbers of pods, of volumes of a pod, … at which something is measured. */
  growPods: readonly number[];
  growVolumes: readonly number[];
  growSecrets: readonly number[];
  growObjects: readonly number[];
  growWatchers: readonly number[];
  growNodes: readonly number[];
  growIdleSeconds: number;
  /** Pods of each number of volumes. */
  growVolumesPods: number;
  /** Pods that come and go. */
  churnPods: number;
  /** Replicas of a deployment, beside as many bare pods, and how often. */
  deploymentReplicas: number;
  deploymentRounds: number;
  /** Pods of a whole cluster that has nothing to do. */
  upIdlePods: number;
  /** How long its DNS is asked. */
  dnsSeconds: number;
  /** Services beside the one whose endpoint changes, and how often that does. */
  upServices: number;
  endpointChanges: number;
}

export const FULL: Sizes = {
  rounds: 1,
  singlePods: 30,
  burstPods: 30,
  burstRounds: 3,
  exitPods: 10,
  exitContainers: 10,
  crashingPods: 20,
  idlePods: 50,
  idleSeconds: 30,
  agentStarts: 10,
  clusterSinglePods: 30,
  clusterStarts: 10,
  clusterBursts: [
    { pods: 30, rounds: 3 },
    { pods: 100, rounds: 1 },
  ],
  clusterIdlePods: 100,
  clusterIdleSeconds: 60,
  volumePairs: 60,
  volumeBurstPods: 100,
  volumeConfigMaps: 1_000,
  volumeConfigMapPods: 20,
  apiStarts: 10,
  apiCreates: 2_000,
  apiParallelCreates: 4_000,
  apiWatchers: 1_000,
  apiWatchSeconds: 10,
  apiPods: 5_000,
  apiLists: 20,
  apiSettleSeconds: 60,
  fairPods: 1_000,
  fairReads: 200,
  restartPods: 100,
  restarts: 5,
  tracedPods: 5,
  growPods: [10, 50, 100, 200, 500],
  growVolumes: [1, 5, 10, 20],
  growSecrets: [1, 10, 100, 1_000, 10_000],
  growObjects: [1_000, 10_000, 50_000, 200_000],
  growWatchers: [10, 100, 1_000, 5_000],
  growNodes: [1, 10, 100, 1_000],
  growIdleSeconds: 10,
  growVolumesPods: 5,
  churnPods: 1_000,
  deploymentReplicas: 100,
  deploymentRounds: 3,
  upIdlePods: 100,
  dnsSeconds: 10,
  upServices: 5_000,
  endpointChanges: 50,
};

/** Few samples: whether it works, not how fast it is. */
export const QUICK: Sizes = {
  rounds: 1,
  singlePods: 5,
  burstPods: 10,
  burstRounds: 1,
  exitPods: 1,
  exitContainers: 5,
  crashingPods: 3,
  idlePods: 10,
  idleSeconds: 5,
  agentStarts: 2,
  clusterSinglePods: 5,
  clusterStarts: 2,
  clusterBursts: [{ pods: 10, rounds: 1 }],
  clusterIdlePods: 10,
  clusterIdleSeconds: 5,
  volumePairs: 3,
  volumeBurstPods: 10,
  volumeConfigMaps: 20,
  volumeConfigMapPods: 2,
  apiStarts: 2,
  apiCreates: 200,
  apiParallelCreates: 400,
  apiWatchers: 200,
  apiWatchSeconds: 2,
  apiPods: 500,
  apiLists: 5,
  apiSettleSeconds: 2,
  fairPods: 300,
  fairReads: 20,
  restartPods: 10,
  restarts: 2,
  tracedPods: 2,
  growPods: [10, 20, 40],
  growVolumes: [1, 5, 10],
  growSecrets: [1, 10, 100],
  growObjects: [100, 300, 1_000],
  growWatchers: [10, 30, 100],
  growNodes: [1, 10, 30],
  growIdleSeconds: 2,
  growVolumesPods: 2,
  churnPods: 40,
  deploymentReplicas: 10,
  deploymentRounds: 1,
  upIdlePods: 10,
  dnsSeconds: 2,
  upServices: 100,
  endpointChanges: 5,
};

/** A turn of a build that is compared with another; cases that take their programs in turns do all of it at once. */
export const TURN: Sizes = {
  ...FULL,
  rounds: 10,
  singlePods: 3,
  burstRounds: 1,
  exitPods: 2,
  crashingPods: 5,
  idlePods: 30,
  idleSeconds: 10,
  agentStarts: 1,
  clusterBursts: [{ pods: 30, rounds: 5 }],
  clusterIdlePods: 30,
  clusterIdleSeconds: 10,
  volumePairs: 20,
  volumeBurstPods: 30,
  volumeConfigMaps: 200,
  volumeConfigMapPods: 5,
  apiStarts: 1,
  apiCreates: 500,
  apiParallelCreates: 1_000,
  apiWatchSeconds: 3,
  apiPods: 2_000,
  apiLists: 5,
  apiSettleSeconds: 5,
  fairReads: 40,
  deploymentReplicas: 30,
  deploymentRounds: 1,
  upIdlePods: 30,
  dnsSeconds: 3,
  upServices: 1_000,
  endpointChanges: 10,
};

/** The same with few samples, in as many turns as tell a difference from chance. */
export const QUICK_TURN: Sizes = {
  ...QUICK,
  rounds: 6,
  singlePods: 2,
  agentStarts: 1,
  clusterSinglePods: 6,
  clusterStarts: 6,
  clusterBursts: [{ pods: 10, rounds: 6 }],
  apiStarts: 1,
  apiCreates: 100,
  apiParallelCreates: 200,
};

/** What the page is made of: all of it takes 25 to 45 minutes on a quiet machine, with Go programs beside. */
export const REPORT: Sizes = {
  ...FULL,
  singlePods: 20,
  agentStarts: 10,
  clusterSinglePods: 20,
  clusterStarts: 5,
  clusterBursts: [
    { pods: 30, rounds: 3 },
    { pods: 100, rounds: 1 },
  ],
  exitPods: 3,
  clusterIdleSeconds: 45,
  apiStarts: 5,
  apiCreates: 1_000,
  apiParallelCreates: 2_000,
  apiLists: 10,
  growPods: [10, 100, 250, 500],
  growSecrets: [1, 10, 100, 1_000],
  growObjects: [1_000, 10_000, 50_000],
  growWatchers: [10, 100, 1_000],
  growNodes: [1, 10, 100, 300],
  growIdleSeconds: 5,
  restarts: 3,
  deploymentRounds: 1,
  dnsSeconds: 5,
  endpointChanges: 20,
};
