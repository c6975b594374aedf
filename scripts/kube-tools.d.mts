export declare const KUBE_TOOLS: { readonly helm: string; readonly kubectl: string };
export declare function hasKubeTools(): boolean;
