"""A network outside Python: ONNX, quantised layers, plain safetensors; and what says no.

The table of README.md says what is supported; compiling, exporting and tracing are tested in
test_model.py.
"""

from __future__ import annotations

from pathlib import Path

import networks
import pytest
import torch
from networks import noise
from safetensors.torch import save_file
from torch import Tensor, nn

from capsnet_tutorial import CapsNet, CapsNetConfig, load_pretrained, load_weights


def images(batch: int) -> Tensor:
    return noise(batch, 1, 9, 9, dtype=torch.float32).sigmoid()


@pytest.mark.slow
def test_an_onnx_network_answers_for_any_number_of_images(tmp_path):
    pytest.importorskip("onnxscript")
    onnxruntime = pytest.importorskip("onnxruntime")
    model = networks.tiny().float().eval()
    path = tmp_path / "network.onnx"
    torch.onnx.export(
        model,
        (images(3),),
        path,
        input_names=["images"],
        output_names=["capsules", "lengths", "reconstruction"],
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        dynamo=True,
        verbose=False,
    )
    session = onnxruntime.InferenceSession(path)
    for batch in (1, 3, 8):
        x = images(batch)
        outputs = session.run(None, {"images": x.numpy()})
        for output, expected in zip(outputs, model(x), strict=True):
            torch.testing.assert_close(torch.from_numpy(output), expected, rtol=0, atol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_linear_layers_in_eight_bits_leave_the_lengths_and_draw_nearly_alike():
    model = load_pretrained()
    quantised = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    x = networks.few(8).images
    output = quantised(x)
    assert output.lengths.equal(model(x).lengths)
    difference = (output.reconstruction - model(x).reconstruction).abs()
    assert difference.mean() < 0.02 and difference.max() < 0.7


def test_a_plain_safetensors_file_of_a_preset_is_loaded(tmp_path: Path):
    torch.manual_seed(0)
    model = CapsNet(CapsNetConfig.small()).eval()
    save_file(model.state_dict(), tmp_path / "network.safetensors")
    x = networks.few(3).images
    torch.testing.assert_close(
        tuple(load_weights(tmp_path / "network.safetensors")(x)), tuple(model(x))
    )


@pytest.mark.parametrize(
    "convert", [torch.jit.script, torch.fx.symbolic_trace], ids=["script", "symbolic trace"]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_of_the_source_and_symbolic_traces_are_not_supported(convert):
    with pytest.raises((ValueError, RuntimeError, torch.jit.frontend.NotSupportedError)):
        convert(networks.tiny())
