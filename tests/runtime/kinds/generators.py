"""Networks that make images: adversarial pairs, an autoencoder, style transfer."""

import numpy as np
import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


def _norm(part: Part, x: tf.Tensor, training: bool, name: str, kept: str = "inference") -> tf.Tensor:
    """Batch norm that hangs its updates on its own result, as contrib's with ``updates_collections=None``."""
    with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
        size = [x.shape[-1]]
        gamma = part.variable("gamma", size, kept, start=v1.ones_initializer())
        beta = part.variable("beta", size, kept, start=v1.zeros_initializer())
        statistics = kept if kept == "inference" else "batch_norm_update"
        mean = part.variable("moving_mean", size, statistics, start=v1.zeros_initializer(), trainable=False)
        variance = part.variable("moving_variance", size, statistics, start=v1.ones_initializer(), trainable=False)
        if not training:
            return v1.nn.fused_batch_norm(x, gamma, beta, mean, variance, is_training=False)[0]
        y, batch_mean, batch_variance = v1.nn.fused_batch_norm(x, gamma, beta, is_training=True)[:3]
        with part("batch_norm_update"):
            updates = [
                v1.assign_sub(moving, (moving - value) * 0.1)
                for moving, value in ((mean, batch_mean), (variance, batch_variance))
            ]
        with v1.control_dependencies(updates):
            return v1.identity(y)


def _generator(part: Part, noise: tf.Tensor, training: bool) -> tf.Tensor:
    with v1.variable_scope("generator", reuse=v1.AUTO_REUSE):
        x = v1.reshape(part.dense(noise, 4 * 4 * 8, "project"), [-1, 4, 4, 8])
        x = v1.nn.relu(_norm(part, x, training, "norm0"))
        for number, channels in ((1, 4), (2, 1)):
            kernel = part.variable(f"kernel{number}", [5, 5, channels, x.shape[-1]])
            side = 4 * 2**number
            x = v1.nn.conv2d_transpose(x, kernel, [8, side, side, channels], [1, 2, 2, 1])
            if number == 1:
                x = v1.nn.relu(_norm(part, x, training, "norm1"))
        return v1.nn.tanh(x)


def _discriminator(part: Part, image: tf.Tensor) -> tf.Tensor:
    with v1.variable_scope("discriminator", reuse=v1.AUTO_REUSE):
        x = v1.nn.leaky_relu(part.conv(image, 4, "conv0", size=5, stride=2, kept="training_forward"))
        x = part.conv(x, 8, "conv1", size=5, stride=2, kept="training_forward")
        x = v1.nn.leaky_relu(_norm(part, x, True, "norm", "training_forward"))
        return part.dense(v1.reshape(x, [8, 4 * 4 * 8]), 1, "judge", kept="training_forward")


@kind(tuned=True)
def adversarial_pair(part: Part) -> object:
    """DCGAN: the generator trains on batch statistics, a sampler shares its weights; the discriminator judges."""
    with part("inference"):
        noise = v1.placeholder(tf.float32, [8, 10])
    with part("training_forward"):
        real = v1.placeholder(tf.float32, [8, 16, 16, 1])
        fake = _generator(part, noise, True)
        real_logits = _discriminator(part, real)
        fake_logits = _discriminator(part, fake)
        v1.nn.sigmoid(real_logits)
    with part("inference"):
        sample = _generator(part, noise, False)
    entropy = v1.nn.sigmoid_cross_entropy_with_logits
    with part("loss"):
        real_loss = v1.reduce_mean(entropy(logits=real_logits, labels=tf.ones_like(real_logits)))
        fake_loss = v1.reduce_mean(entropy(logits=fake_logits, labels=tf.zeros_like(fake_logits)))
        generator_loss = v1.reduce_mean(entropy(logits=fake_logits, labels=tf.ones_like(fake_logits)))
        discriminator_loss = real_loss + fake_loss
    for scope, loss in (("discriminator", discriminator_loss), ("generator", generator_loss)):
        adam = v1.train.AdamOptimizer(2e-4, beta1=0.5, name=f"Adam_{scope}")
        part.minimize(adam, loss, variables=v1.trainable_variables(scope))
    with part("summary"):
        v1.summary.image("samples", sample)
    part.close(real_loss, fake_loss, generator_loss, discriminator_loss)
    return sample


@kind(tuned=True, resource=True)
def gradient_penalty(part: Part) -> object:
    """WGAN-GP: the critic's loss holds the norm of a gradient."""

    def critic(x: tf.Tensor) -> tf.Tensor:
        x = v1.nn.relu(part.dense(x, 16, "critic/hidden", kept="training_forward"))
        return part.dense(x, 1, "critic/score", kept="training_forward")

    with part("inference"):
        noise = v1.random_normal([32, 4])
        hidden = v1.nn.relu(part.dense(noise, 16, "generator/hidden"))
        fake = part.dense(hidden, 2, "generator/points")
    with part("training_forward"):
        real = v1.placeholder(tf.float32, [32, 2])
        mixed = real + v1.random_uniform([32, 1]) * (fake - real)
        real_score, fake_score, mixed_score = critic(real), critic(fake), critic(mixed)
    with part("gradient"):
        slope = v1.gradients(mixed_score, [mixed])[0]
    with part("loss"):
        length = v1.sqrt(v1.reduce_sum(v1.square(slope), 1))
        penalty = v1.reduce_mean((length - 1.0) ** 2)
        critic_loss = v1.reduce_mean(fake_score) - v1.reduce_mean(real_score) + 10.0 * penalty
        generator_loss = -v1.reduce_mean(fake_score)
    for scope, loss in (("critic", critic_loss), ("generator", generator_loss)):
        part.minimize(v1.train.AdamOptimizer(1e-4, 0.5, 0.9, name=scope), loss, variables=v1.trainable_variables(scope))
    part.close(critic_loss)
    return fake


@kind(tuned=False)
def variational_autoencoder(part: Part) -> object:
    """The images are the labels too; random numbers lie on the way to the output."""
    with part("inference"):
        x = v1.placeholder(tf.float32, [None, 64])
        hidden = v1.nn.elu(part.dense(x, 32, "encoder/hidden"))
        mean, log_variance = part.dense(hidden, 4, "encoder/mean"), part.dense(hidden, 4, "encoder/variance")
        code = mean + v1.exp(0.5 * log_variance) * v1.random_normal(v1.shape(mean))
        logits = part.dense(v1.nn.elu(part.dense(code, 32, "decoder/hidden")), 64, "decoder/logits")
        image = v1.nn.sigmoid(logits)
    with part("loss"):
        entropy = v1.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        rebuilt = v1.reduce_sum(entropy, 1)
        divergence = -0.5 * v1.reduce_sum(1 + log_variance - v1.square(mean) - v1.exp(log_variance), 1)
        loss = v1.reduce_mean(rebuilt + divergence)
    part.minimize(v1.train.AdamOptimizer(1e-3), loss, part.step())
    part.close(loss)
    return image


def frozen_features(image: tf.Tensor) -> list[tf.Tensor]:
    """What a network with constant weights sees in an image, the same in every graph."""
    random = np.random.default_rng(0)
    found, x = [], image
    for size in ((3, 4), (4, 8)):
        weights = v1.constant(random.normal(size=[3, 3, *size]).astype(np.float32))
        x = v1.nn.relu(v1.nn.conv2d(x, weights, strides=[1, 2, 2, 1], padding="SAME"))
        found.append(x)
    return found


@kind(tuned=True)
def style_transfer(part: Part) -> object:
    """A network that is judged by the features of another, frozen one, whose weights are constants."""

    def gram(x: tf.Tensor) -> tf.Tensor:
        flat = v1.reshape(x, [2, -1, x.shape[-1]])
        return v1.matmul(v1.transpose(flat, [0, 2, 1]), flat) / float(np.prod(x.shape[1:]))

    def instance_norm(x: tf.Tensor, name: str) -> tf.Tensor:
        mean, variance = v1.nn.moments(x, [1, 2], keep_dims=True)
        shift = part.variable(f"{name}/shift", [x.shape[-1]], start=v1.zeros_initializer())
        scale = part.variable(f"{name}/scale", [x.shape[-1]], start=v1.ones_initializer())
        return scale * (x - mean) / (variance + 1e-3) ** 0.5 + shift

    with part("inference"):
        content = v1.placeholder(tf.float32, [2, 16, 16, 3])
        x = v1.nn.relu(instance_norm(part.conv(content / 255.0, 4, "conv1", size=9), "norm1"))
        x = v1.nn.relu(instance_norm(part.conv(x, 8, "conv2", stride=2), "norm2"))
        x = x + instance_norm(part.conv(x, 8, "residual"), "norm3")
        x = v1.nn.conv2d_transpose(x, part.variable("up", [3, 3, 4, 8]), [2, 16, 16, 4], [1, 2, 2, 1])
        image = v1.nn.tanh(part.conv(v1.nn.relu(x), 3, "last", size=9)) * 150 + 255.0 / 2
    with part("training_forward"):
        wanted, made = frozen_features(content), frozen_features(image)
    with part("loss"):
        content_loss = 7.5 * (2 * v1.nn.l2_loss(made[-1] - wanted[-1]) / 512)
        style_loss = 0.0
        for x in made:
            target = np.zeros([x.shape[-1], x.shape[-1]], np.float32)
            style_loss += 100.0 * 2 * v1.nn.l2_loss(gram(x) - target) / target.size
        smooth = v1.nn.l2_loss(image[:, 1:] - image[:, :-1]) + v1.nn.l2_loss(image[:, :, 1:] - image[:, :, :-1])
        loss = content_loss + style_loss + 200 * smooth / 2
    part.minimize(v1.train.AdamOptimizer(1e-3), loss)
    part.close()
    return image


@kind(tuned=False)
def image_translation(part: Part) -> object:
    """pix2pix: a generator that is fed an image, a discriminator that sees both; L1 beside the adversarial loss."""

    def judge(before: tf.Tensor, after: tf.Tensor) -> tf.Tensor:
        x = v1.concat([before, after], 3)
        x = v1.nn.leaky_relu(part.conv(x, 8, "judge/conv1", stride=2, kept="training_forward"))
        return v1.nn.sigmoid(part.conv(x, 1, "judge/conv2", kept="training_forward"))

    with part("inference"):
        before = v1.placeholder(tf.float32, [2, 16, 16, 3])
        down = v1.nn.leaky_relu(part.conv(before, 8, "maker/down", stride=2))
        up = v1.nn.conv2d_transpose(down, part.variable("maker/up", [4, 4, 3, 8]), [2, 16, 16, 3], [1, 2, 2, 1])
        made = v1.nn.tanh(up)
    with part("training_forward"):
        after = v1.placeholder(tf.float32, [2, 16, 16, 3])
        real, fake = judge(before, after), judge(before, made)
    with part("loss"):
        judge_loss = v1.reduce_mean(-(v1.log(real + 1e-12) + v1.log(1 - fake + 1e-12)))
        fooled = v1.reduce_mean(-v1.log(fake + 1e-12))
        near = v1.reduce_mean(v1.abs(after - made))
        maker_loss = fooled + near * 100.0
    step = part.step()
    judged = part.minimize(
        v1.train.AdamOptimizer(2e-4, 0.5, name="A"), judge_loss, variables=v1.trainable_variables("judge")
    )
    with v1.control_dependencies([judged]):
        made_better = part.minimize(
            v1.train.AdamOptimizer(2e-4, 0.5, name="B"), maker_loss, variables=v1.trainable_variables("maker")
        )
    with part("moving_average"):
        averaged = v1.train.ExponentialMovingAverage(0.99).apply([judge_loss, near])
    with part("global_step"):
        counted = v1.assign_add(step, 1)
    with part("optimizer"):
        v1.group(averaged, counted, made_better)
    with part("summary"):
        v1.summary.image("made", v1.image.convert_image_dtype((made + 1) / 2, tf.uint8))
    part.close(judge_loss, maker_loss)
    return made
