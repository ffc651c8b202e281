"""tokitai.torch's modules, and what replace() swaps and leaves alone."""

from __future__ import annotations

from typing import Any, List

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import tokitai.torch as tt  # noqa: E402


def drawn(*shape: int, seed: int = 1119) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def small_model() -> Any:
    torch.manual_seed(1119)
    return nn.Sequential(
        nn.Embedding(10, 8, padding_idx=0), nn.Linear(8, 16), nn.GELU(approximate="tanh"), nn.LayerNorm(16),
        nn.Linear(16, 6, bias=False), nn.Softmax(dim=-1),
    )  # fmt: skip


def test_replaced_model_computes_the_same() -> None:
    model, index = small_model(), torch.tensor([[1, 0, 9, 9]])
    reference = small_model()
    report = tt.replace(model)
    assert [entry.kind for entry in report.replaced] == ["Embedding", "Linear", "GELU", "Linear", "Softmax"]
    assert not report.left and report.others == {"LayerNorm": 1}
    assert [type(m) for m in model] == [tt.Embedding, tt.Linear, tt.GELU, nn.LayerNorm, tt.Linear, tt.Softmax]
    y, expected = model(index), reference(index)
    assert torch.allclose(y, expected, atol=1e-6)
    grad = drawn(*y.shape)
    y.backward(grad)
    expected.backward(grad)
    for (name, a), (other, b) in zip(model.named_parameters(), reference.named_parameters()):
        assert name == other and torch.allclose(a.grad, b.grad, atol=1e-6), name
    assert not model[0].weight.grad[0].any()


def test_state_is_kept() -> None:
    model = small_model()
    before = {name: value.data_ptr() for name, value in model.named_parameters()}
    calls: List[Any] = []
    model[1].register_forward_hook(lambda module, inputs, output: calls.append(type(module)))
    model.eval()
    tt.replace(model)
    assert {name: value.data_ptr() for name, value in model.named_parameters()} == before
    assert not model[1].training
    model(torch.tensor([1]))
    assert calls == [tt.Linear]
    small_model().load_state_dict(model.state_dict())


def test_modules_that_differ_are_left_alone() -> None:
    class Own(nn.Linear):
        def forward(self, input: Any) -> Any:
            return super().forward(input) + 1

    model = nn.ModuleDict(
        {
            "erf": nn.GELU(),
            "columns": nn.Softmax(dim=1),
            "some axis": nn.Softmax(),
            "weighted": nn.CrossEntropyLoss(weight=torch.ones(3)),
            "renormalised": nn.Embedding(4, 3, max_norm=1.0),
            "by count": nn.Embedding(4, 3, scale_grad_by_freq=True),
            "sparse": nn.Embedding(4, 3, sparse=True),
            "of doubles": nn.Linear(3, 3).double(),
            "derived": Own(3, 3),
            "ours": tt.Linear(3, 3),
            "relu": nn.ReLU(),
        }
    )
    classes = {name: type(module) for name, module in model.items()}
    report = tt.replace(model)
    assert not report.replaced and {name: type(module) for name, module in model.items()} == classes
    reasons = {entry.name: entry.reason for entry in report.left}
    assert set(reasons) == set(classes) - {"relu"}
    for name, part in [
        ("erf", "another function"),
        ("columns", "dim is 1"),
        ("some axis", "dim is None"),
        ("weighted", "weights of classes"),
        ("renormalised", "max_norm"),
        ("by count", "scale_grad_by_freq"),
        ("sparse", "sparse"),
        ("of doubles", "float64"),
        ("derived", "Own is derived from Linear"),
        ("ours", "ours already"),
    ]:
        assert part in reasons[name], name
    text = str(report)
    assert text.startswith("replaced nothing\nleft alone\n") and "no op for: 1 ReLU" in text


def test_report_is_a_table() -> None:
    text = str(tt.replace(small_model()))
    assert text.splitlines()[0] == "replaced 1 Embedding, 1 GELU, 2 Linear, 1 Softmax"
    assert "  1: Linear" in text and text.endswith("no op for: 1 LayerNorm")


def test_model_that_is_one_module_and_shared_modules() -> None:
    layer = nn.Linear(3, 4)
    assert tt.replace(layer).replaced == [tt.Replaced("", "Linear")] and type(layer) is tt.Linear
    shared = nn.GELU(approximate="tanh")
    model = nn.Sequential(shared, nn.Linear(3, 3), shared)
    tt.replace(model)
    assert model[0] is model[2] is shared and type(shared) is tt.GELU


def test_parametrized_modules_are_left_alone() -> None:
    model = nn.Sequential(torch.nn.utils.parametrizations.orthogonal(nn.Linear(3, 3)))
    report = tt.replace(model)
    assert not report.replaced and "derived from Linear" in report.left[0].reason


def test_transformer_layer_computes_the_same() -> None:
    torch.manual_seed(1119)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    x = drawn(2, 5, 16)
    expected = layer(x)
    report = tt.replace(layer)
    assert {entry.name for entry in report.replaced} == {"linear1", "linear2"}
    assert {entry.name for entry in report.left} == {"self_attn.out_proj"}
    assert torch.allclose(layer(x), expected, atol=1e-5)
    layer.eval()
    with torch.no_grad():
        assert torch.allclose(layer(x), expected, atol=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_loss(reduction: str) -> None:
    ours = nn.Sequential(nn.CrossEntropyLoss(reduction=reduction, ignore_index=2, label_smoothing=0.1))
    theirs = ours[0]
    logits, target = drawn(4, 5), torch.tensor([0, 2, 4, 1])
    expected = theirs(logits, target)
    tt.replace(ours)
    assert type(theirs) is tt.CrossEntropyLoss
    assert torch.allclose(theirs(logits, target), expected, atol=1e-6)
    made = tt.CrossEntropyLoss(reduction=reduction, ignore_index=2, label_smoothing=0.1, repeatable=True)
    assert torch.equal(made(logits, target), theirs(logits, target))


def test_probabilities_are_left_to_pytorch() -> None:
    logits, probabilities = drawn(4, 5), torch.softmax(drawn(4, 5, seed=2), -1)
    assert torch.equal(tt.CrossEntropyLoss()(logits, probabilities), nn.CrossEntropyLoss()(logits, probabilities))


def test_modules_of_their_own() -> None:
    x = drawn(3, 6)
    layer = tt.Linear(6, 4, activation="gelu")
    assert torch.equal(layer(x), tt.linear(x, layer.weight, layer.bias, activation="gelu"))
    assert "activation=gelu" in repr(layer) and "activation" not in repr(tt.Linear(6, 4))
    assert torch.equal(tt.GELU()(x), tt.gelu(x)) and torch.equal(tt.Softmax()(x), tt.softmax(x))
    table = tt.Embedding(5, 3, padding_idx=1)
    assert torch.equal(table(torch.tensor([4, 1])), table.weight[[4, 1]])
    with pytest.raises(ValueError, match="tanh"):
        tt.GELU("none")
    with pytest.raises(ValueError, match="max_norm"):
        tt.Embedding(5, 3, max_norm=1.0)(torch.tensor([0]))
