// @ts-nocheck
// `npm run kernels` writes this file from arithmetic.ts: as WebAssembly in base64, without and
// with relaxed SIMD, and without its types.
export const KERNELS_WASM =
  "AGFzbQEAAAABRwhgBH9/f38AYAV/f39/fwBgA39/fwBgAn9/AGAGf39/f39/AGAKf39/f39/f39/fwBgB39/f39/f38AYAl/f39/f399fX0AAg8BA2VudgZtZW1vcnkCAAADDw4AAAEAAAIDBAUCAAEGBwefAQ8GbWF0bXVsAAgJdHJhbnNwb3NlAAAIZmlsbFJvd3MACgdzdW1Sb3dzAAEEZ2F0ZQAJB3NpZ21vaWQABgdvdmVySW5rAAcGc3F1YXNoAAMKc3F1YXNoQmFjawACB3NvZnRtYXgABQtzb2Z0bWF4QmFjawAEC2FkZFdlaWdodGVkAAwKYWdyZWVtZW50cwALBGFkYW0ADQZtZW1vcnkCAAqOJQ7SAgIEfwZ7A0AgAyAFSgRAQQAhBANAIAIgBEoEQCAAIAIgBWwgBGpBAnRqIgYgASADIARsIAVqQQJ0aiIH/QAEACIKIAcgA0ECdGr9AAQAIgv9DQABAgMQERITBAUGBxQVFhciDCAHIANBA3Rq/QAEACINIAcgA0EMbGr9AAQAIgj9DQABAgMQERITBAUGBxQVFhciCf0NAAECAwQFBgcQERITFBUWF/0LBAAgBiACQQJ0aiAMIAn9DQgJCgsMDQ4PGBkaGxwdHh/9CwQAIAYgAkEDdGogCiAL/Q0ICQoLGBkaGwwNDg8cHR4fIgkgDSAI/Q0ICQoLGBkaGwwNDg8cHR4fIgj9DQABAgMEBQYHEBESExQVFhf9CwQAIAYgAkEMbGogCSAI/Q0ICQoLDA0ODxgZGhscHR4f/QsEACAEQQRqIQQMAQsLIAVBBGohBQwBCwsLZwICfwF7A0AgAyAESgRAIAAgBEECdGr9AAQAIQZBACEFA0AgAiAFSgRAIAYgASADIAVsIARqQQJ0av0ABAD95AEhBiAFQQFqIQUMAQsLIAAgBEECdGogBv0LBAAgBEEEaiEEDAELCwvGAwIDewN/A0AgAyAJSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQVBACEIA0AgBCAISgRAIAhBAnQiCiABav0ABAAgASAKav0ABAD95gEgBf3kASEFIAhBBGohCAwBCwsgBSAFIAX9DQgJCgsMDQ4PAAECAwQFBgf95AEiBf0fACAF/R8Bkv0T/QyVleYklZXmJJWV5iSVleYk/ekBIgX94wEhBv0MAACAPwAAgD8AAIA/AACAPyAF/eUB/QwAAIA/AACAPwAAgD8AAIA/IAX95AEiByAH/eYBIAb95gH95wH9DAAAAAAAAAAAAAAAAAAAAAAhBUEAIQgDQCAEIAhKBEAgCEECdCIKIAFq/QAEACACIApq/QAEAP3mASAF/eQBIQUgCEEEaiEIDAELCyAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGS/RP95gEhBUEAIQgDQCAEIAhKBEAgCEECdCIKIABqIAYgB/3nASACIApq/QAEAP3mASAFIAEgCmr9AAQA/eYB/eQB/QsEACAIQQRqIQgMAQsLIARBAnQiCCAAaiEAIAEgCGohASACIAhqIQIgCUEBaiEJDAELCwuhAgIBewN/A0AgAiAGSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQRBACEFA0AgAyAFSgRAIAVBAnQiByABav0ABAAgASAHav0ABAD95gEgBP3kASEEIAVBBGohBQwBCwv9DAAAgD8AAIA/AACAPwAAgD8gBCAEIAT9DQgJCgsMDQ4PAAECAwQFBgf95AEiBP0fACAE/R8Bkv0T/QyVleYklZXmJJWV5iSVleYk/ekB/eMBIgT9DAAAgD8AAIA/AACAPwAAgD8gBP3nAf3kAf3nASEEQQAhBQNAIAMgBUoEQCAFQQJ0IgcgAGogBCABIAdq/QAEAP3mAf0LBAAgBUEEaiEFDAELCyADQQJ0IgUgAGohACABIAVqIQEgBkEBaiEGDAELCwvxAQIBewR/A0AgAyAGSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQRBACEFA0AgBUEMSARAIAVBAnQiByACav0ABAAgASAHav0ABAD95gEgBP3kASEEIAVBBGohBQwBCwsgBCAEIAT9DQgJCgsMDQ4PAAECAwQFBgf95AEiBP0fACAE/R8Bkv0TIQRBACEFA0AgBUEMSARAIAVBAnQiByAAaiIIIAj9AAQAIAIgB2r9AAQAIAEgB2r9AAQAIAT95QH95gH95AH9CwQAIAVBBGohBQwBCwsgAEEwaiEAIAFBMGohASACQTBqIQIgBkEBaiEGDAELCwvlBgMCfQN/AnsDQCACIAZKBEAgASoCACEEQQEhBwNAIAdBCkgEQCABIAdBAnRqKgIAIgMgBF4EQCADIQQLIAdBAWohBwwBCwtBACEHA0AgB0EMSARA/QwAAK7CAACuwgAArsIAAK7C/QwAAK5CAACuQgAArkIAAK5CIAdBAnQiBSABav0ABAAgBP0T/eUB/egB/ekBIgj9DDuquD87qrg/O6q4PzuquD/95gH9aiEJIAAgBWr9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD8gCCAJ/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAn9DIOAXrmDgF65g4BeuYOAXrn95gH95QEiCP0MJUkSPiVJEj4lSRI+JUkSPv3mAf3mAf3kASAI/Qyrqio+q6oqPquqKj6rqio+/eYB/eYB/eQBIAj9DM3MTD7NzEw+zcxMPs3MTD795gH95gH95AEgCP0MAACAPgAAgD4AAIA+AACAPv3mAf3mAf3kASAI/Qyrqqo+q6qqPquqqj6rqqo+/eYB/eYB/eQBIAj9DAAAAD8AAAA/AAAAPwAAAD/95gH95gH95AEgCP0MAACAPwAAgD8AAIA/AACAP/3mAf3mAf3kASAJ/fgB/Qx/AAAAfwAAAH8AAAB/AAAA/a4BQRf9qwH95gH9CwQAIAdBBGohBwwBCwtBCiEHA0AgB0EMSARAIAAgB0ECdGpDAAAAADgCACAHQQFqIQcMAQsL/QwAAAAAAAAAAAAAAAAAAAAAIQhBACEHA0AgB0EMSARAIAggACAHQQJ0av0ABAD95AEhCCAHQQRqIQcMAQsL/QwAAIA/AACAPwAAgD8AAIA/IAggCCAI/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgj9HwAgCP0fAZL9E/3nASEIQQAhBwNAIAdBDEgEQCAAIAdBAnRqIgUgCCAF/QAEAP3mAf0LBAAgB0EEaiEHDAELCyAAQTBqIQAgAUEwaiEBIAZBAWohBgwBCwsL5QQCAnsCfwNAIAEgBEoEQP0MAACuwgAArsIAAK7CAACuwv0MAACuQgAArkIAAK5CAACuQv0MAAAAAAAAAAAAAAAAAAAAACAAIARBAnRqIgX9AAQA/eUB/egB/ekBIgP9DDuquD87qrg/O6q4PzuquD/95gH9aiECIAX9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD8gAyAC/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAL9DIOAXrmDgF65g4BeuYOAXrn95gH95QEiA/0MJUkSPiVJEj4lSRI+JUkSPv3mAf3mAf3kASAD/Qyrqio+q6oqPquqKj6rqio+/eYB/eYB/eQBIAP9DM3MTD7NzEw+zcxMPs3MTD795gH95gH95AEgA/0MAACAPgAAgD4AAIA+AACAPv3mAf3mAf3kASAD/Qyrqqo+q6qqPquqqj6rqqo+/eYB/eYB/eQBIAP9DAAAAD8AAAA/AAAAPwAAAD/95gH95gH95AEgA/0MAACAPwAAgD8AAIA/AACAP/3mAf3mAf3kASAC/fgB/Qx/AAAAfwAAAH8AAAB/AAAA/a4BQRf9qwH95gH95AH95wH9CwQAIARBBGohBAwBCwsL4QIDCn8BewF9A0AgAyALSgRAQQAhCQNAIAlBCkgEQEEAIQoDQCAKQQpIBEAgASALQRxsIAlBAXRqQRxsIApBAXRqQQJ0aiENQQAhBwNAIAdBCUgEQEEAIQgDQCAIQQlIBEAgDSAHQRxsIAhqQQJ0aioCACIRQwAAAABcBEAgAiAHQQlsIAhqIARsQQJ0aiEMIAUEQEEAIQYgEf0TIRADQCAEIAZKBEAgBkECdCIOIAxqIg8gECAAIA5q/QAEAP3mASAP/QAEAP3kAf0LBAAgBkEEaiEGDAELCwVBACEGIBH9EyEQA0AgBCAGSgRAIAZBAnQiDiAAaiIPIBAgDCAOav0ABAD95gEgD/0ABAD95AH9CwQAIAZBBGohBgwBCwsLCyAIQQFqIQgMAQsLIAdBAWohBwwBCwsgACAEQQJ0aiEAIApBAWohCgwBCwsgCUEBaiEJDAELCyALQQFqIQsMAQsLC40EAg9/C3sDQCAIIAtKBEAgCCALQUBrIgogCCAKSBshGEEAIQwDQCAJIAxKBEBBACENA0AgByANSgRAIAAgASANbCAMakECdGoiDiABQQJ0IgpqIg8gCmoiECAKaiERIA79AAQAIRogDv0ABBAhGyAP/QAEACEcIA/9AAQQIR0gEP0ABAAhHiAQ/QAEECEfIBH9AAQAISAgEf0ABBAhISACIAMgDWwgBCALbGpBAnRqIhMgA0ECdCIKaiIUIApqIhUgCmohFiAFIAYgC2wgDGpBAnRqIRIgCyEKA0AgCiAYSARAIBP9CQIAIhkgEv0ABAAiIv3mASAa/eQBIRogGSAS/QAEECIj/eYBIBv95AEhGyAU/QkCACIZICL95gEgHP3kASEcIBkgI/3mASAd/eQBIR0gFf0JAgAiGSAi/eYBIB795AEhHiAZICP95gEgH/3kASEfIBb9CQIAIhkgIv3mASAg/eQBISAgGSAj/eYBICH95AEhISAEQQJ0IhcgE2ohEyAUIBdqIRQgFSAXaiEVIBYgF2ohFiASIAZBAnRqIRIgCkEBaiEKDAELCyAOIBr9CwQAIA4gG/0LBBAgDyAc/QsEACAPIB39CwQQIBAgHv0LBAAgECAf/QsEECARICD9CwQAIBEgIf0LBBAgDUEEaiENDAELCyAMQQhqIQwMAQsLIAtBQGshCwwBCwsLTQEDfwNAIAIgA0oEQCADQQJ0IgQgAGoiBSABIARq/QAEAP0MAAAAAAAAAAAAAAAAAAAAAP1EIAX9AAQA/U79CwQAIANBBGohAwwBCwsLTgECfwNAIAIgBUoEQEEAIQQDQCADIARKBEAgACADIAVsIARqQQJ0aiABIARBAnRq/QAEAP0LBAAgBEEEaiEEDAELCyAFQQFqIQUMAQsLC/oBAgF7B38DQCADIAlKBEBBACEIA0AgBCAISgRAQQAhBwNAIAdBCkgEQCAAIAdBAnRqIgYgBioCACAHQQZ0IgYgAWohCiACIAZqIQv9DAAAAAAAAAAAAAAAAAAAAAAhBUEAIQYDQCAGQRBIBEAgBkECdCIMIApq/QAEACALIAxq/QAEAP3mASAF/eQBIQUgBkEEaiEGDAELCyAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGSkjgCACAHQQFqIQcMAQsLIABBMGohACABQYAFaiEBIAhBAWohCAwBCwsgAkGABWohAiAJQQFqIQkMAQsLC+IBAgh/AXsDQCAFIApKBEBBACEJA0AgBiAJSgRAQQAhCANAIAhBCkgEQCAIQQZ0IgcgAGohCyADIAdqIQxBACEHIAIgCEECdGoqAgD9EyEPA0AgB0EQSARAIAdBAnQiDSALaiIOIA8gDCANav0ABAD95gEgDv0ABAD95AH9CwQAIAdBBGohBwwBCwsgCEEBaiEIDAELCyAAIAFBAnRqIQAgAkEwaiECIAMgBEECdGohAyAJQQFqIQkMAQsLIABBoAEgAWtBAnRqIQAgA0GgASAEa0ECdGohAyAKQQFqIQoMAQsLC7QCAgR7BX8DQCAFIA1KBEAgDUECdCIQIABqIg4gDv0ABAAgBv0T/QxmZmY/ZmZmP2ZmZj9mZmY/IAIgEGoiD/0ABAD95gH9DM3MzD3NzMw9zczMPc3MzD0gASAQaiIR/QAEACIK/eYB/eQBIgn95gH9DHe+fz93vn8/d75/P3e+fz8gAyAQaiIO/QAEAP3mAf0MbxKDOm8SgzpvEoM6bxKDOiAKIAr95gH95gH95AEiC/3jASAH/RP95gH9DHfMKzJ3zCsyd8wrMnfMKzL95AH95wH95QEiCv0LBAAgBCAQaiIQ/QAEACEMIBAgDCAI/RMgCiAM/eUB/eYB/eQB/QsEACAPIAn9CwQAIA4gC/0LBAAgEf0MAAAAAAAAAAAAAAAAAAAAAP0LBAAgDUEEaiENDAELCws=";
export const KERNELS_RELAXED =
  "AGFzbQEAAAABRwhgBH9/f38AYAV/f39/fwBgA39/fwBgAn9/AGAGf39/f39/AGAKf39/f39/f39/fwBgB39/f39/f38AYAl/f39/f399fX0AAg8BA2VudgZtZW1vcnkCAAADDw4AAAEAAAIDBAUCAAEGBwefAQ8GbWF0bXVsAAgJdHJhbnNwb3NlAAAIZmlsbFJvd3MACgdzdW1Sb3dzAAEEZ2F0ZQAJB3NpZ21vaWQABgdvdmVySW5rAAcGc3F1YXNoAAMKc3F1YXNoQmFjawACB3NvZnRtYXgABQtzb2Z0bWF4QmFjawAEC2FkZFdlaWdodGVkAAwKYWdyZWVtZW50cwALBGFkYW0ADQZtZW1vcnkCAAreJA7SAgIEfwZ7A0AgAyAFSgRAQQAhBANAIAIgBEoEQCAAIAIgBWwgBGpBAnRqIgYgASADIARsIAVqQQJ0aiIH/QAEACIKIAcgA0ECdGr9AAQAIgv9DQABAgMQERITBAUGBxQVFhciDCAHIANBA3Rq/QAEACINIAcgA0EMbGr9AAQAIgj9DQABAgMQERITBAUGBxQVFhciCf0NAAECAwQFBgcQERITFBUWF/0LBAAgBiACQQJ0aiAMIAn9DQgJCgsMDQ4PGBkaGxwdHh/9CwQAIAYgAkEDdGogCiAL/Q0ICQoLGBkaGwwNDg8cHR4fIgkgDSAI/Q0ICQoLGBkaGwwNDg8cHR4fIgj9DQABAgMEBQYHEBESExQVFhf9CwQAIAYgAkEMbGogCSAI/Q0ICQoLDA0ODxgZGhscHR4f/QsEACAEQQRqIQQMAQsLIAVBBGohBQwBCwsLZwICfwF7A0AgAyAESgRAIAAgBEECdGr9AAQAIQZBACEFA0AgAiAFSgRAIAYgASADIAVsIARqQQJ0av0ABAD95AEhBiAFQQFqIQUMAQsLIAAgBEECdGogBv0LBAAgBEEEaiEEDAELCwvAAwIDewN/A0AgAyAJSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQVBACEIA0AgBCAISgRAIAhBAnQiCiABav0ABAAgASAKav0ABAAgBf2FAiEFIAhBBGohCAwBCwsgBSAFIAX9DQgJCgsMDQ4PAAECAwQFBgf95AEiBf0fACAF/R8Bkv0T/QyVleYklZXmJJWV5iSVleYk/ekBIgX94wEhBv0MAACAPwAAgD8AAIA/AACAPyAF/eUB/QwAAIA/AACAPwAAgD8AAIA/IAX95AEiByAH/eYBIAb95gH95wH9DAAAAAAAAAAAAAAAAAAAAAAhBUEAIQgDQCAEIAhKBEAgCEECdCIKIAFq/QAEACACIApq/QAEACAF/YUCIQUgCEEEaiEIDAELCyAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGS/RP95gEhBUEAIQgDQCAEIAhKBEAgCEECdCIKIABqIAYgB/3nASACIApq/QAEAP3mASAFIAEgCmr9AAQA/eYB/eQB/QsEACAIQQRqIQgMAQsLIARBAnQiCCAAaiEAIAEgCGohASACIAhqIQIgCUEBaiEJDAELCwueAgIBewN/A0AgAiAGSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQRBACEFA0AgAyAFSgRAIAVBAnQiByABav0ABAAgASAHav0ABAAgBP2FAiEEIAVBBGohBQwBCwv9DAAAgD8AAIA/AACAPwAAgD8gBCAEIAT9DQgJCgsMDQ4PAAECAwQFBgf95AEiBP0fACAE/R8Bkv0T/QyVleYklZXmJJWV5iSVleYk/ekB/eMBIgT9DAAAgD8AAIA/AACAPwAAgD8gBP3nAf3kAf3nASEEQQAhBQNAIAMgBUoEQCAFQQJ0IgcgAGogBCABIAdq/QAEAP3mAf0LBAAgBUEEaiEFDAELCyADQQJ0IgUgAGohACABIAVqIQEgBkEBaiEGDAELCwvuAQIBewR/A0AgAyAGSgRA/QwAAAAAAAAAAAAAAAAAAAAAIQRBACEFA0AgBUEMSARAIAVBAnQiByACav0ABAAgASAHav0ABAAgBP2FAiEEIAVBBGohBQwBCwsgBCAEIAT9DQgJCgsMDQ4PAAECAwQFBgf95AEiBP0fACAE/R8Bkv0TIQRBACEFA0AgBUEMSARAIAVBAnQiByAAaiIIIAj9AAQAIAIgB2r9AAQAIAEgB2r9AAQAIAT95QH95gH95AH9CwQAIAVBBGohBQwBCwsgAEEwaiEAIAFBMGohASACQTBqIQIgBkEBaiEGDAELCwvlBgMCfQN/AnsDQCACIAZKBEAgASoCACEEQQEhBwNAIAdBCkgEQCABIAdBAnRqKgIAIgMgBF4EQCADIQQLIAdBAWohBwwBCwtBACEHA0AgB0EMSARA/QwAAK7CAACuwgAArsIAAK7C/QwAAK5CAACuQgAArkIAAK5CIAdBAnQiBSABav0ABAAgBP0T/eUB/egB/ekBIgj9DDuquD87qrg/O6q4PzuquD/95gH9aiEJIAAgBWr9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD8gCCAJ/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAn9DIOAXrmDgF65g4BeuYOAXrn95gH95QEiCP0MJUkSPiVJEj4lSRI+JUkSPv3mAf3mAf3kASAI/Qyrqio+q6oqPquqKj6rqio+/eYB/eYB/eQBIAj9DM3MTD7NzEw+zcxMPs3MTD795gH95gH95AEgCP0MAACAPgAAgD4AAIA+AACAPv3mAf3mAf3kASAI/Qyrqqo+q6qqPquqqj6rqqo+/eYB/eYB/eQBIAj9DAAAAD8AAAA/AAAAPwAAAD/95gH95gH95AEgCP0MAACAPwAAgD8AAIA/AACAP/3mAf3mAf3kASAJ/fgB/Qx/AAAAfwAAAH8AAAB/AAAA/a4BQRf9qwH95gH9CwQAIAdBBGohBwwBCwtBCiEHA0AgB0EMSARAIAAgB0ECdGpDAAAAADgCACAHQQFqIQcMAQsL/QwAAAAAAAAAAAAAAAAAAAAAIQhBACEHA0AgB0EMSARAIAggACAHQQJ0av0ABAD95AEhCCAHQQRqIQcMAQsL/QwAAIA/AACAPwAAgD8AAIA/IAggCCAI/Q0ICQoLDA0ODwABAgMEBQYH/eQBIgj9HwAgCP0fAZL9E/3nASEIQQAhBwNAIAdBDEgEQCAAIAdBAnRqIgUgCCAF/QAEAP3mAf0LBAAgB0EEaiEHDAELCyAAQTBqIQAgAUEwaiEBIAZBAWohBgwBCwsL5QQCAnsCfwNAIAEgBEoEQP0MAACuwgAArsIAAK7CAACuwv0MAACuQgAArkIAAK5CAACuQv0MAAAAAAAAAAAAAAAAAAAAACAAIARBAnRqIgX9AAQA/eUB/egB/ekBIgP9DDuquD87qrg/O6q4PzuquD/95gH9aiECIAX9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD/9DAAAgD8AAIA/AACAPwAAgD8gAyAC/QwAgDE/AIAxPwCAMT8AgDE//eYB/eUBIAL9DIOAXrmDgF65g4BeuYOAXrn95gH95QEiA/0MJUkSPiVJEj4lSRI+JUkSPv3mAf3mAf3kASAD/Qyrqio+q6oqPquqKj6rqio+/eYB/eYB/eQBIAP9DM3MTD7NzEw+zcxMPs3MTD795gH95gH95AEgA/0MAACAPgAAgD4AAIA+AACAPv3mAf3mAf3kASAD/Qyrqqo+q6qqPquqqj6rqqo+/eYB/eYB/eQBIAP9DAAAAD8AAAA/AAAAPwAAAD/95gH95gH95AEgA/0MAACAPwAAgD8AAIA/AACAP/3mAf3mAf3kASAC/fgB/Qx/AAAAfwAAAH8AAAB/AAAA/a4BQRf9qwH95gH95AH95wH9CwQAIARBBGohBAwBCwsL2wIDCn8BewF9A0AgAyALSgRAQQAhCQNAIAlBCkgEQEEAIQoDQCAKQQpIBEAgASALQRxsIAlBAXRqQRxsIApBAXRqQQJ0aiENQQAhBwNAIAdBCUgEQEEAIQgDQCAIQQlIBEAgDSAHQRxsIAhqQQJ0aioCACIRQwAAAABcBEAgAiAHQQlsIAhqIARsQQJ0aiEMIAUEQEEAIQYgEf0TIRADQCAEIAZKBEAgBkECdCIOIAxqIg8gECAAIA5q/QAEACAP/QAEAP2FAv0LBAAgBkEEaiEGDAELCwVBACEGIBH9EyEQA0AgBCAGSgRAIAZBAnQiDiAAaiIPIBAgDCAOav0ABAAgD/0ABAD9hQL9CwQAIAZBBGohBgwBCwsLCyAIQQFqIQgMAQsLIAdBAWohBwwBCwsgACAEQQJ0aiEAIApBAWohCgwBCwsgCUEBaiEJDAELCyALQQFqIQsMAQsLC/UDAg9/C3sDQCAIIAtKBEAgCCALQUBrIgogCCAKSBshGEEAIQwDQCAJIAxKBEBBACENA0AgByANSgRAIAAgASANbCAMakECdGoiDiABQQJ0IgpqIg8gCmoiECAKaiERIA79AAQAIRogDv0ABBAhGyAP/QAEACEcIA/9AAQQIR0gEP0ABAAhHiAQ/QAEECEfIBH9AAQAISAgEf0ABBAhISACIAMgDWwgBCALbGpBAnRqIhMgA0ECdCIKaiIUIApqIhUgCmohFiAFIAYgC2wgDGpBAnRqIRIgCyEKA0AgCiAYSARAIBP9CQIAIhkgEv0ABAAiIiAa/YUCIRogGSAS/QAEECIjIBv9hQIhGyAU/QkCACIZICIgHP2FAiEcIBkgIyAd/YUCIR0gFf0JAgAiGSAiIB79hQIhHiAZICMgH/2FAiEfIBb9CQIAIhkgIiAg/YUCISAgGSAjICH9hQIhISAEQQJ0IhcgE2ohEyAUIBdqIRQgFSAXaiEVIBYgF2ohFiASIAZBAnRqIRIgCkEBaiEKDAELCyAOIBr9CwQAIA4gG/0LBBAgDyAc/QsEACAPIB39CwQQIBAgHv0LBAAgECAf/QsEECARICD9CwQAIBEgIf0LBBAgDUEEaiENDAELCyAMQQhqIQwMAQsLIAtBQGshCwwBCwsLTQEDfwNAIAIgA0oEQCADQQJ0IgQgAGoiBSABIARq/QAEAP0MAAAAAAAAAAAAAAAAAAAAAP1EIAX9AAQA/U79CwQAIANBBGohAwwBCwsLTgECfwNAIAIgBUoEQEEAIQQDQCADIARKBEAgACADIAVsIARqQQJ0aiABIARBAnRq/QAEAP0LBAAgBEEEaiEEDAELCyAFQQFqIQUMAQsLC/cBAgF7B38DQCADIAlKBEBBACEIA0AgBCAISgRAQQAhBwNAIAdBCkgEQCAAIAdBAnRqIgYgBioCACAHQQZ0IgYgAWohCiACIAZqIQv9DAAAAAAAAAAAAAAAAAAAAAAhBUEAIQYDQCAGQRBIBEAgBkECdCIMIApq/QAEACALIAxq/QAEACAF/YUCIQUgBkEEaiEGDAELCyAFIAUgBf0NCAkKCwwNDg8AAQIDBAUGB/3kASIF/R8AIAX9HwGSkjgCACAHQQFqIQcMAQsLIABBMGohACABQYAFaiEBIAhBAWohCAwBCwsgAkGABWohAiAJQQFqIQkMAQsLC98BAgh/AXsDQCAFIApKBEBBACEJA0AgBiAJSgRAQQAhCANAIAhBCkgEQCAIQQZ0IgcgAGohCyADIAdqIQxBACEHIAIgCEECdGoqAgD9EyEPA0AgB0EQSARAIAdBAnQiDSALaiIOIA8gDCANav0ABAAgDv0ABAD9hQL9CwQAIAdBBGohBwwBCwsgCEEBaiEIDAELCyAAIAFBAnRqIQAgAkEwaiECIAMgBEECdGohAyAJQQFqIQkMAQsLIABBoAEgAWtBAnRqIQAgA0GgASAEa0ECdGohAyAKQQFqIQoMAQsLC7QCAgR7BX8DQCAFIA1KBEAgDUECdCIQIABqIg4gDv0ABAAgBv0T/QxmZmY/ZmZmP2ZmZj9mZmY/IAIgEGoiD/0ABAD95gH9DM3MzD3NzMw9zczMPc3MzD0gASAQaiIR/QAEACIK/eYB/eQBIgn95gH9DHe+fz93vn8/d75/P3e+fz8gAyAQaiIO/QAEAP3mAf0MbxKDOm8SgzpvEoM6bxKDOiAKIAr95gH95gH95AEiC/3jASAH/RP95gH9DHfMKzJ3zCsyd8wrMnfMKzL95AH95wH95QEiCv0LBAAgBCAQaiIQ/QAEACEMIBAgDCAI/RMgCiAM/eUB/eYB/eQB/QsEACAPIAn9CwQAIA4gC/0LBAAgEf0MAAAAAAAAAAAAAAAAAAAAAP0LBAAgDUEEaiENDAELCws=";
export const plain = ({ add, all, at, div, exp, get, get1, LANES, madd, max, mul, put, put1, root, spread, sub, sum, turn, where }) => {

const J = 10; // classes
const D = 16; // numbers in a digit capsule
const ROW = 12; // room for the ten logits or couplings of a capsule: three times four
const DEEP = 64; // rows of b that stay in the nearest cache
const TAPS = 9; // along a side of the first kernel
const SIDE = 28;
const ACROSS = 10; // along a side of the first layer's maps

function dot(x, y, n) {
  let total = all(0);
  for (let k = 0; k < n; k += LANES) total = madd(get(at(x, k)), get(at(y, k)), total);
  return sum(total);
}

/** y += w x, n numbers of each. */
function addScaled(y, w, x, n) {
  const scale = all(w);
  for (let k = 0; k < n; k += LANES) put(at(y, k), madd(scale, get(at(x, k)), get(at(y, k))));
}

// ------------------------------------------------------------------------------------------ layers

/**
 * c[m, n] += Σ_k a[m, k] b[k, n]. Blocks of 4 × 2 LANES stay in registers: M is a multiple of 4,
 * N of 8.
 */
function matmul(
  c, cRow, a, aRow, aColumn, b, bRow,
  M, K, N,
) {
  for (let k0 = 0; k0 < K; k0 += DEEP) {
    const end = K < k0 + DEEP ? K : k0 + DEEP;
    for (let n = 0; n < N; n += 2 * LANES) {
      for (let m = 0; m < M; m += 4) {
        const c0 = at(c, m * cRow + n);
        const c1 = at(c0, cRow);
        const c2 = at(c1, cRow);
        const c3 = at(c2, cRow);
        let p0 = get(c0), q0 = get(at(c0, LANES));
        let p1 = get(c1), q1 = get(at(c1, LANES));
        let p2 = get(c2), q2 = get(at(c2, LANES));
        let p3 = get(c3), q3 = get(at(c3, LANES));
        let a0 = at(a, m * aRow + k0 * aColumn);
        let a1 = at(a0, aRow);
        let a2 = at(a1, aRow);
        let a3 = at(a2, aRow);
        let from = at(b, k0 * bRow + n);
        for (let k = k0; k < end; k++) {
          const x = get(from);
          const y = get(at(from, LANES));
          let w = spread(a0);
          p0 = madd(w, x, p0);
          q0 = madd(w, y, q0);
          w = spread(a1);
          p1 = madd(w, x, p1);
          q1 = madd(w, y, q1);
          w = spread(a2);
          p2 = madd(w, x, p2);
          q2 = madd(w, y, q2);
          w = spread(a3);
          p3 = madd(w, x, p3);
          q3 = madd(w, y, q3);
          a0 = at(a0, aColumn);
          a1 = at(a1, aColumn);
          a2 = at(a2, aColumn);
          a3 = at(a3, aColumn);
          from = at(from, bRow);
        }
        put(c0, p0);
        put(at(c0, LANES), q0);
        put(c1, p1);
        put(at(c1, LANES), q1);
        put(c2, p2);
        put(at(c2, LANES), q2);
        put(c3, p3);
        put(at(c3, LANES), q3);
      }
    }
  }
}

/** to[n, m] = from[m, n]. M and N are multiples of 4. */
function transpose(to, from, M, N) {
  for (let n = 0; n < N; n += LANES) {
    for (let m = 0; m < M; m += LANES) turn(at(to, n * M + m), M, at(from, m * N + n), N);
  }
}

/** y[row] = bias for every row. */
function fillRows(y, bias, rows, N) {
  for (let row = 0; row < rows; row++) {
    for (let n = 0; n < N; n += LANES) put(at(y, row * N + n), get(at(bias, n)));
  }
}

/** total += the sum of the rows. */
function sumRows(total, y, rows, N) {
  for (let n = 0; n < N; n += LANES) {
    let x = get(at(total, n));
    for (let row = 0; row < rows; row++) x = add(x, get(at(y, row * N + n)));
    put(at(total, n), x);
  }
}

/**
 * x = 0 where y is not above 0: ReLU where both are the same, its gradient where x is the gradient
 * above.
 */
function gate(x, y, n) {
  for (let k = 0; k < n; k += LANES) put(at(x, k), where(get(at(y, k)), get(at(x, k))));
}

function sigmoid(y, n) {
  for (let k = 0; k < n; k += LANES) {
    const x = get(at(y, k));
    put(at(y, k), div(all(1), add(all(1), exp(sub(all(0), x)))));
  }
}

/**
 * The first layer, over the ink of all patches: y[place] += grey · taps[tap], or back:
 * taps[tap] += grey · y[place]. x [B, 28, 28], taps [81, C], y [B, 100, C]
 */
function overInk(y, x, taps, B, C, back) {
  for (let n = 0; n < B; n++) {
    for (let row = 0; row < ACROSS; row++) {
      for (let column = 0; column < ACROSS; column++) {
        const corner = at(x, (n * SIDE + 2 * row) * SIDE + 2 * column);
        for (let down = 0; down < TAPS; down++) {
          for (let right = 0; right < TAPS; right++) {
            const grey = get1(at(corner, down * SIDE + right));
            if (grey == 0) continue; // four fifths of a digit are paper
            const tap = at(taps, (down * TAPS + right) * C);
            if (back) addScaled(tap, grey, y, C);
            else addScaled(y, grey, tap, C);
          }
        }
        y = at(y, C);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------- capsules

/** Equation 1 for each row of `size` numbers: v = s / (n + 1/n), n = ‖s‖. */
function squash(v, s, rows, size) {
  for (let row = 0; row < rows; row++) {
    const n = root(max(all(dot(s, s, size)), all(1e-16)));
    const scale = div(all(1), add(n, div(all(1), n)));
    for (let d = 0; d < size; d += LANES) put(at(v, d), mul(scale, get(at(s, d))));
    v = at(v, size);
    s = at(s, size);
  }
}

/** ds of v = f s, f = n / (1 + n²): ds = f dv + f′/n (s · dv) s. */
function squashBack(ds, s, dv, rows, size) {
  for (let row = 0; row < rows; row++) {
    const square = max(all(dot(s, s, size)), all(1e-16));
    const n = root(square);
    const more = add(all(1), square);
    const slope = div(sub(all(1), square), mul(mul(more, more), n));
    const along = mul(slope, all(dot(s, dv, size)));
    for (let d = 0; d < size; d += LANES) {
      put(at(ds, d), add(mul(div(n, more), get(at(dv, d))), mul(along, get(at(s, d)))));
    }
    ds = at(ds, size);
    s = at(s, size);
    dv = at(dv, size);
  }
}

/** Equation 3: c = softmax(b) over the ten classes of each row; the two of padding are 0. */
function softmax(c, b, rows) {
  for (let row = 0; row < rows; row++) {
    let most = get1(b);
    for (let j = 1; j < J; j++) if (get1(at(b, j)) > most) most = get1(at(b, j));
    for (let j = 0; j < ROW; j += LANES) put(at(c, j), exp(sub(get(at(b, j)), all(most))));
    for (let j = J; j < ROW; j++) put1(at(c, j), 0);
    let total = all(0);
    for (let j = 0; j < ROW; j += LANES) total = add(total, get(at(c, j)));
    const scale = div(all(1), all(sum(total)));
    for (let j = 0; j < ROW; j += LANES) put(at(c, j), mul(scale, get(at(c, j))));
    c = at(c, ROW);
    b = at(b, ROW);
  }
}

/** db += c (dc - Σ c dc) for each row. */
function softmaxBack(db, dc, c, rows) {
  for (let row = 0; row < rows; row++) {
    const mean = all(dot(c, dc, ROW));
    for (let j = 0; j < ROW; j += LANES) {
      put(at(db, j), add(get(at(db, j)), mul(get(at(c, j)), sub(get(at(dc, j)), mean))));
    }
    db = at(db, ROW);
    dc = at(dc, ROW);
    c = at(c, ROW);
  }
}

/**
 * to += c_ij from, for all votes: s_j += c_ij û_j|i, or û_j|i += c_ij s_j. Of the two, û is
 * [B, I, J, D], its row J · D numbers; s is [B, J, D], its row 0: the same ten for every i.
 * c [B, I, ROW]
 */
function addWeighted(
  to, toRow, c, from, fromRow, B, I,
) {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) {
        addScaled(at(to, j * D), get1(at(c, j)), at(from, j * D), D);
      }
      to = at(to, toRow);
      c = at(c, ROW);
      from = at(from, fromRow);
    }
    to = at(to, J * D - toRow);
    from = at(from, J * D - fromRow);
  }
}

/** a_ij += û_j|i · v_j. û [B, I, J, D], v [B, J, D] -> a [B, I, ROW] */
function agreements(a, votes, v, B, I) {
  for (let n = 0; n < B; n++) {
    for (let i = 0; i < I; i++) {
      for (let j = 0; j < J; j++) {
        const agreement = dot(at(votes, j * D), at(v, j * D), D);
        put1(at(a, j), get1(at(a, j)) + agreement);
      }
      a = at(a, ROW);
      votes = at(votes, J * D);
    }
    v = at(v, J * D);
  }
}

// ---------------------------------------------------------------------------------------- learning

/**
 * One step of Adam for n numbers p, which sets their gradients g to 0 and moves their average a by
 * a `share` of the way to them. rate = lr / (1 - β1^t), scale = 1 / √(1 - β2^t)
 */
function adam(
  p, g, m, v, a, n,
  rate, scale, share,
) {
  for (let k = 0; k < n; k += LANES) {
    const gradient = get(at(g, k));
    const mean = add(mul(all(0.9), get(at(m, k))), mul(all(0.1), gradient));
    const square = add(mul(all(0.999), get(at(v, k))), mul(all(0.001), mul(gradient, gradient)));
    const size = add(mul(root(square), all(scale)), all(1e-8));
    const now = sub(get(at(p, k)), div(mul(all(rate), mean), size));
    put(at(p, k), now);
    put(at(a, k), add(get(at(a, k)), mul(all(share), sub(now, get(at(a, k))))));
    put(at(m, k), mean);
    put(at(v, k), square);
    put(at(g, k), all(0));
  }
}

return { matmul, transpose, fillRows, sumRows, gate, sigmoid, overInk, squash, squashBack, softmax, softmaxBack, addWeighted, agreements, adam };
};
