// The sizes that all networks of the playground have.
export const SIDE = 28;
export const PIXELS = SIDE * SIDE;
export const KERNEL = 9; // along a side of the first kernel
export const ACROSS = 10; // along a side of the first layer's maps
export const MAPS = ACROSS * ACROSS;
export const TAPS = 5; // along a side of the second kernel
export const PLACES = 9; // of the primary capsules, 3 × 3
export const D_IN = 8; // numbers in a primary capsule
export const J = 10; // classes
export const D = 16; // numbers in a digit capsule
export const HIDDEN = [128, 256]; // of the decoder
/** Room for the ten logits or couplings of a capsule: three times four. */
export const ROW = 12;
export const SCORES = 16; // room for a CNN's ten scores: two times eight
export const WALL = 100; // of them, those that are shown
export const OWN = 10; // of the reader's digits, those that are shown
